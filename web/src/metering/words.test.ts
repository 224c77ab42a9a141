import { describe, expect, test } from "vitest";
import type { MeterBill, MeterPeriod, MeterVersion } from "../generated/api";
import {
  bars,
  billRows,
  changes,
  counting,
  dayAfter,
  dayOf,
  hoursOf,
  monthOf,
  share,
  startOf,
  stateOf,
  stretches,
  ticks,
} from "./words";

const at = (minutes: number) => new Date(Date.UTC(2026, 2, 1, 0, minutes)).toISOString();
const version = (minutes: number, value: number, stage: MeterVersion["stage"]): MeterVersion => ({
  end: at(minutes),
  value,
  stage,
  recorded: at(0),
});

describe("stretches", () => {
  test("join intervals that follow each other", () => {
    expect(stretches([at(15), at(30), at(45), at(90), at(120), at(135)])).toEqual([
      { from: Date.parse(at(15)), to: Date.parse(at(45)), count: 3 },
      { from: Date.parse(at(90)), to: Date.parse(at(90)), count: 1 },
      { from: Date.parse(at(120)), to: Date.parse(at(135)), count: 2 },
    ]);
  });

  test("take ends in any order, one and none", () => {
    expect(stretches([at(30), at(15)])).toHaveLength(1);
    expect(stretches([at(15)])).toEqual([
      { from: Date.parse(at(15)), to: Date.parse(at(15)), count: 1 },
    ]);
    expect(stretches([])).toEqual([]);
  });
});

describe("share", () => {
  test("is all only if it is", () => {
    expect(share(96, 96)).toBe("100 %");
    expect(share(9_999_999, 10_000_000)).toBe("99.99 %");
    expect(share(1, 3)).toBe("33.3 %");
    expect(share(0, 3)).toBe("0.0 %");
    expect(share(0, 0)).toBe("none expected");
  });
});

test("a doubted reading is told from one that passed", () => {
  expect(stateOf({ stage: "raw" })).toBe("raw");
  expect(stateOf({ stage: "raw", status: "spike" })).toBe("doubted");
  expect(stateOf({ stage: "validated" })).toBe("validated");
  expect(stateOf({ stage: "estimated", status: "gap" })).toBe("estimated");
});

test("days are local", () => {
  expect(dayOf(startOf("2026-03-01"))).toBe("2026-03-01");
  expect(startOf("nonsense")).toBeNaN();
});

test("changes tell what was added, replaced and taken away", () => {
  const then = [version(15, 1, "raw"), version(30, 2, "raw"), version(45, 3, "raw")];
  const now = [version(15, 1, "raw"), version(30, 2.5, "edited"), version(60, 4, "estimated")];
  expect(changes(then, now).map((c) => [c.end, c.before?.value, c.now?.value])).toEqual([
    [at(30), 2, 2.5],
    [at(45), 3, undefined],
    [at(60), undefined, 4],
  ]);
});

test("bars stand on zero, also those below it", () => {
  const path = bars(
    [
      { from: 0, to: 10, value: 2 },
      { from: 10, to: 20, value: -1 },
    ],
    (t) => t,
    (v) => 50 - v * 10,
  );
  expect(path).toBe("M0.0 50.0V30.0H10.0V50.0ZM10.0 50.0V60.0H20.0V50.0Z");
});

test("ticks are round and lie within", () => {
  expect(ticks(0, 0.97)).toEqual([0, 0.5]);
  expect(ticks(0, 10)).toEqual([0, 5, 10]);
  expect(ticks(-1, 1)).toEqual([-1, -0.5, 0, 0.5, 1]);
  expect(ticks(3, 3)).toEqual([3]);
});

describe("an hour", () => {
  const hour = {
    from: at(0),
    expected: 8,
    received: 6,
    validated: 0,
    doubted: 0,
    estimated: 0,
    edited: 0,
  };

  test("before validation has raw and missing intervals", () => {
    expect(hoursOf([hour])[0]).toMatchObject({ raw: 6, missing: 2, validated: 0 });
  });

  test("counts each interval once, also estimates in place of doubted readings", () => {
    const judged = { ...hour, received: 7, validated: 5, doubted: 1, estimated: 2 };
    const parts = hoursOf([judged])[0];
    expect(parts).toMatchObject({ validated: 5, doubted: 1, estimated: 2, raw: 0, missing: 0 });
  });
});

describe("a bill", () => {
  const period = (more: Partial<MeterPeriod>): MeterPeriod => ({
    ...{ period: "all", quantity: 1, intervals: 4, missing: 0, estimated: 0, edited: 0 },
    ...more,
  });
  const bill = (...periods: MeterPeriod[]): MeterBill => ({
    ...{ meters: ["m"], from: at(0), to: at(60), unit: "kWh", registers: [], stray: 0, periods },
  });

  test("shows figures with their difference, and counts only if there are any", () => {
    const now = bill(period({ quantity: 0.1 + 0.2, edited: 1 }));
    const rows = billRows(now, bill(period({ quantity: 0.5, estimated: 1 })));
    expect(rows.map((r) => [r.period, r.name, r.before, r.now, r.difference])).toEqual([
      ["all", "Consumption", "0.5", "0.3", "-0.2"],
      ["", "Estimated intervals", "1", "0", "-1"],
      ["", "Edited intervals", "0", "1", "+1"],
    ]);
  });

  test("shows a period that the tariff has no more, and power of a demand", () => {
    const demand = { demand: 4, end: at(15), windows: 1, incomplete: 0 };
    const rows = billRows(bill(period({ demand })), bill(period({ period: "night" })));
    expect(rows.map((r) => [r.period, r.name, r.unit, r.now])).toEqual([
      ["all", "Consumption", "kWh", "1"],
      ["", "Peak demand", "kW", "4"],
      ["night", "Consumption", "kWh", "–"],
    ]);
  });

  test("is of the month before, also in January", () => {
    expect(monthOf(startOf("2026-01-15")).map(dayOf)).toEqual(["2025-12-01", "2026-01-01"]);
  });

  test("knows the day behind one, also when the clock changes", () => {
    expect(["2026-03-29", "2026-12-31"].map(dayAfter)).toEqual(["2026-03-30", "2027-01-01"]);
  });

  test("counts the last version of the highest rank", () => {
    const stages = ["raw", "estimated", "raw", "validated"] as const;
    expect(counting(stages.map((stage) => ({ stage })))).toBe(3);
    expect(counting([{ stage: "edited" }, { stage: "estimated" }])).toBe(0);
    expect(counting([])).toBe(-1);
  });
});
