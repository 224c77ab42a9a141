import { describe, expect, test } from "vitest";
import { dateTimeIn } from "../zone";
import { dayAfterKey, daysSpan, presets, weeksOf } from "./calendar";

const berlin = "Europe/Berlin";
const day = (year: number, month: number, date: number) => ({ year, month, day: date });
const words = ([from, to]: readonly [number, number]) =>
  [from, to].map((t) => dateTimeIn(t, berlin).replace(":00:00", ""));

describe("the calendar", () => {
  test("shows whole weeks from Monday", () => {
    const weeks = weeksOf(day(2026, 2, 10));
    expect(weeks[0]?.[0]).toEqual(day(2026, 1, 26));
    expect(weeks.at(-1)?.[6]).toEqual(day(2026, 3, 1));
    expect(weeksOf(day(2027, 2, 1))).toHaveLength(4);
  });

  test("is walked by keys", () => {
    const at = day(2026, 3, 31);
    expect(dayAfterKey(at, "ArrowRight", false)).toEqual(day(2026, 4, 1));
    expect(dayAfterKey(at, "ArrowUp", false)).toEqual(day(2026, 3, 24));
    expect(dayAfterKey(at, "Home", false)).toEqual(day(2026, 3, 30));
    expect(dayAfterKey(at, "PageUp", false)).toEqual(day(2026, 2, 28));
    expect(dayAfterKey(at, "PageDown", true)).toEqual(day(2027, 3, 31));
    expect(dayAfterKey(at, "x", false)).toBeUndefined();
  });

  test("makes whole days of the site, 23 hours where clocks change", () => {
    const [from, to] = daysSpan(day(2026, 3, 29), day(2026, 3, 28), berlin);
    expect((to - from) / 3_600_000).toBe(47);
  });

  test("names stretches by the day of the site, not of UTC", () => {
    // 23:30 in UTC is tomorrow in Berlin
    const found = presets(Date.UTC(2026, 10, 29, 23, 30), berlin);
    const of = (label: string) => words(found.find((p) => p.label === label)?.span ?? [0, 0]);
    expect(of("Today")).toEqual(["2026-11-30 00", "2026-12-01 00"]);
    expect(of("This week")).toEqual(["2026-11-30 00", "2026-12-07 00"]);
    expect(of("Last week")).toEqual(["2026-11-23 00", "2026-11-30 00"]);
    expect(of("Last month")).toEqual(["2026-10-01 00", "2026-11-01 00"]);
    expect(of("This quarter")).toEqual(["2026-10-01 00", "2027-01-01 00"]);
    expect(of("Last year")).toEqual(["2025-01-01 00", "2026-01-01 00"]);
  });
});
