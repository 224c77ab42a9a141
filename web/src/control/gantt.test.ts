import { describe, expect, test } from "vitest";
import type { ControlTask } from "../generated/api";
import { daysOf, ganttRows, place, scheduleAddress, shifted, ticks } from "./gantt";

const hour = 3_600_000;
const midnight = new Date(2026, 2, 9).getTime();
const at = (h: number) => new Date(midnight + h * hour).toISOString();
const span = [midnight, midnight + 24 * hour] as const;

const task = (name: string, path: string, from: number, to: number): ControlTask => {
  const windows = [{ path, from: at(from), to: at(to) }];
  return {
    ...{ task: name, requester: "person:ann", priority: "low", reason: "", windows },
    ...{ active: from < 10 ? windows : [], started: from < 10, preempted: false },
  };
};

describe("rows", () => {
  test("are one for each path, a branch above what lies below it", () => {
    const rows = ganttRows(
      [task("b", "site/ahu", 12, 13), task("a", "site/ahu", 9, 11), task("c", "site", 14, 15)],
      span,
    );
    expect(rows.map((r) => r.path)).toEqual(["site", "site/ahu"]);
    expect(rows[1]?.bars.map((b) => [b.task, b.is])).toEqual([
      ["a", "active"],
      ["b", "planned"],
    ]);
  });

  test("leave out what lies elsewhere in time", () => {
    const tasks = [
      task("before", "a", -3, 0),
      task("after", "a", 24, 25),
      task("over", "b", -1, 30),
    ];
    expect(ganttRows(tasks, span).map((r) => r.path)).toEqual(["b"]);
  });

  test("show what is wanted and what stands in its way", () => {
    const wanted = {
      windows: [{ path: "site", from: at(12), to: at(14) }],
      holders: [{ requester: "person:ann", task: "b", path: "site/ahu", from: at(12) }],
    };
    const rows = ganttRows([task("b", "site/ahu", 12, 13), task("c", "x", 12, 13)], span, wanted);
    const bars = rows.flatMap((r) => r.bars.map((b) => [b.task, b.is, b.clashes]));
    expect(bars).toEqual([
      ["wanted", "wanted", false],
      ["b", "planned", true],
      ["c", "planned", false],
    ]);
  });
});

test("a window is drawn within the span, and never too thin to see", () => {
  const bar = (from: number, to: number) =>
    place({ from: midnight + from * hour, to: midnight + to * hour }, span, 240);
  expect(bar(6, 12)).toEqual({ x: 60, width: 60 });
  expect(bar(-5, 6)).toEqual({ x: 0, width: 60 });
  expect(bar(18, 40)).toEqual({ x: 180, width: 60 });
  expect(bar(6, 6.01).width).toBe(3);
});

describe("marks", () => {
  test("stand at round times, apart enough for their labels", () => {
    const wide = ticks(span, 900).map((t) => t.label);
    expect(wide.slice(0, 3)).toEqual(["9 Mar", "02:00", "04:00"]);
    expect(ticks(span, 300).map((t) => t.label)).toEqual(["9 Mar", "06:00", "12:00", "18:00"]);
  });

  test("of a week are days", () => {
    const week = [midnight, shifted(midnight, 7)] as const;
    expect(ticks(week, 700).map((t) => t.label)).toEqual(
      [9, 10, 11, 12, 13, 14, 15].map((d) => `${d} Mar`),
    );
  });
});

describe("the address", () => {
  test("says the days, and is read again", () => {
    expect(scheduleAddress(midnight, 7, "a b")).toBe(
      "/control/schedule?day=2026-03-09&days=7&task=a+b",
    );
    expect(daysOf("?day=2026-03-09&days=7", 0)).toEqual({
      from: midnight,
      to: shifted(midnight, 7),
      days: 7,
    });
  });

  test.each(["", "?day=nonsense", "?day=2026-99-99&days=3"])("%j means today", (search) => {
    expect(daysOf(search, midnight + 5 * hour)).toMatchObject({ from: midnight, days: 1 });
  });
});
