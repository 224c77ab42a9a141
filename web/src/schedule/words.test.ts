import { expect, test } from "vitest";
import { segments, valueWords, whenWords } from "./words";

const at = (hour: number) => new Date(Date.UTC(2026, 0, 5, hour)).toISOString();

test("a day is parted where values change", () => {
  const start = Date.UTC(2026, 0, 5);
  const list = segments(
    { time: at(-1), value: null, why: "Sunday" },
    [
      { time: at(6), value: true, why: "Monday" },
      { time: at(18), value: false, why: "Monday" },
      { time: at(30), value: null, why: "Tuesday" },
    ],
    start,
    start + 24 * 3_600_000,
  );
  expect(list).toEqual([
    { from: 0, to: 0.25, value: null, why: "Sunday" },
    { from: 0.25, to: 0.75, value: true, why: "Monday" },
    { from: 0.75, to: 1, value: false, why: "Monday" },
  ]);
});

test("values and times are words", () => {
  expect([null, true, false, 21.5, "comfort"].map(valueWords)).toEqual([
    "nothing",
    "on",
    "off",
    "21.5",
    "comfort",
  ]);
  expect(whenWords("2026-07-01T04:30:00Z", "Europe/Berlin")).toBe("Wed 1 Jul, 06:30");
});
