import { describe, expect, test } from "vitest";
import type { MeterVersion } from "../generated/api";
import { bars, changes, dayOf, share, startOf, stateOf, stretches, ticks } from "./words";

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
