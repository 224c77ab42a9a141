import { describe, expect, test } from "vitest";
import type { Schedule } from "../generated/api";
import { dateFields, dateOf, draftOf, emptyDraft, readValue, scheduleOf, textOf } from "./draft";

const office: Schedule = {
  name: "office",
  description: "Occupied",
  time_zone: "Europe/Berlin",
  points: ["b1/ahu1/occupied", "b1/ahu2/occupied"],
  level: 12,
  default: false,
  week: {
    monday: [
      { at: "06:30", value: true },
      { at: "18:00", value: null },
    ],
  },
  exceptions: [
    { calendar: "holidays", day: [] },
    { date: "2026-12-05", name: "Open day", day: [{ at: "08:00", value: true }] },
    { weekday: "thursday", month: 11, week: 4, day: [] },
    { easter: -2, day: [] },
    { first: "2026-12-24", last: "2026-12-31", day: [] },
  ],
  from: "2026-01-01",
};

describe("a schedule", () => {
  test("comes out of the form as it went in", () => {
    expect(scheduleOf(draftOf(office))).toEqual(office);
  });

  test("of an empty form has no day", () => {
    expect(scheduleOf({ ...emptyDraft(), zone: "" })).toEqual({ name: "", points: [], week: {} });
  });
});

test.each([
  ["21.5", 21.5],
  ["-3", -3],
  ["true", true],
  [" false ", false],
  ["", null],
  ["null", null],
  ["comfort", "comfort"],
  ['"21"', "21"],
  ["1e3", 1000],
])("%s is the value %s", (text, value) => {
  expect(readValue(text)).toEqual(value);
  expect(readValue(textOf(value))).toEqual(value);
});

test("a date each year stays one", () => {
  expect(dateFields(dateOf({ yearly: "02-29", name: "Leap day" }))).toEqual({
    yearly: "02-29",
    name: "Leap day",
  });
});
