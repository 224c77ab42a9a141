import { describe, expect, test } from "vitest";
import {
  addMonths,
  dateTimeIn,
  instantOf,
  knowsZone,
  localOf,
  offsetWords,
  readTime,
  weekdayOf,
} from "./zone";

const berlin = "Europe/Berlin";
const hour = 3_600_000;
const day = (year: number, month: number, date: number) => ({ year, month, day: date });

describe("zones", () => {
  test("have days of 23 and 25 hours", () => {
    const length = (m: number, d: number, zone: string) =>
      (instantOf(day(2026, m, d + 1), zone) - instantOf(day(2026, m, d), zone)) / hour;
    expect(length(3, 29, berlin)).toBe(23);
    expect(length(10, 25, berlin)).toBe(25);
    expect(length(3, 8, "America/New_York")).toBe(23);
    expect(length(3, 29, "UTC")).toBe(24);
    // Half an hour, and a midnight that is skipped
    expect(length(4, 5, "Australia/Lord_Howe")).toBe(24.5);
    expect(dateTimeIn(instantOf(day(2026, 4, 24), "Africa/Cairo"), "Africa/Cairo")).toBe(
      "2026-04-24 01:00:00",
    );
  });

  test("show a time that comes twice for the first time, and a skipped one later", () => {
    const twice = instantOf({ ...day(2026, 10, 25), hour: 2, minute: 30 }, berlin);
    expect(new Date(twice).toISOString()).toBe("2026-10-25T00:30:00.000Z");
    const skipped = instantOf({ ...day(2026, 3, 29), hour: 2, minute: 30 }, berlin);
    expect(dateTimeIn(skipped, berlin)).toBe("2026-03-29 03:30:00");
  });

  test("go there and back for every hour of a year", () => {
    for (const zone of [berlin, "Asia/Kolkata", "America/St_Johns", "Pacific/Apia"]) {
      for (let t = Date.UTC(2026, 0, 1); t < Date.UTC(2027, 0, 1); t += hour) {
        const back = instantOf(localOf(t, zone), zone);
        // The second hour of two with one name is the only one that does not come back
        if (back !== t) expect(localOf(back, zone)).toEqual(localOf(t, zone));
      }
    }
  });

  test("are said and read", () => {
    expect(offsetWords(Date.UTC(2026, 6, 1), berlin)).toBe("+02:00");
    expect(offsetWords(Date.UTC(2026, 6, 1), "America/St_Johns")).toBe("-02:30");
    expect(readTime("2026-07-01 12:00", berlin)).toBe(Date.UTC(2026, 6, 1, 10));
    expect(readTime("2026-07-01", berlin)).toBe(Date.UTC(2026, 5, 30, 22));
    for (const wrong of ["", "1.7.2026", "2026-02-30", "2026-13-01", "2026-07-01 25:00"]) {
      expect(readTime(wrong, berlin)).toBeUndefined();
    }
    expect(knowsZone("Mars/Olympus")).toBe(false);
    expect(knowsZone("")).toBe(false);
  });

  test("know the calendar", () => {
    expect(weekdayOf(day(2026, 11, 26))).toBe(3);
    expect(addMonths(day(2026, 3, 31), -1)).toEqual(day(2026, 2, 28));
    expect(addMonths(day(2026, 1, 5), 24)).toEqual(day(2028, 1, 5));
  });
});
