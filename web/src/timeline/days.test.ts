import { expect, test } from "vitest";
import type { TimelineEvent } from "../generated/api";
import { byDay, timeOf } from "./days";

const on = (...args: [number, number, number, number, number]) => {
  const [year, month, day, hour, minute] = args;
  return new Date(year, month, day, hour, minute).toISOString();
};

test("events are parted by days of this browser", () => {
  const events = [on(2026, 0, 6, 0, 1), on(2026, 0, 5, 23, 59), on(2026, 0, 5, 1, 0)].map(
    (time, number) => ({ time, number }) as TimelineEvent,
  );
  expect(byDay(events).map((d) => [d.day, d.events.map((e) => e.number)])).toEqual([
    ["Tuesday 6 January 2026", [0]],
    ["Monday 5 January 2026", [1, 2]],
  ]);
  expect(timeOf(on(2026, 0, 5, 7, 5))).toBe("07:05:00");
  expect(byDay([])).toEqual([]);
});
