import { expect, test } from "vitest";
import { actionWords } from "./actions";
import { detailOf, endOf, outcomeWords, verdict } from "./words";

const report = {
  whole: true,
  entries: 1042,
  first: 1,
  segments: 1,
  head: "1042:9f2c",
  problems: [],
  more: 0,
};

test.each([
  ["a whole log", report, "The log is whole: 1,042 entries, each follows from the one before it."],
  [
    "a log with segments",
    { ...report, segments: 2 },
    "The log is whole: 1,042 entries in 2 segments, each follows from the one before it.",
  ],
  ["an empty log", { ...report, entries: 0 }, "The log is empty, and nothing is missing."],
  [
    "a damaged log",
    { ...report, whole: false, problems: [{ seq: 3, detail: "hash" }], more: 4 },
    "The log is damaged: 5 problems in 1,042 entries.",
  ],
])("says of %s what was found", (_, found, words) => expect(verdict(found)).toBe(words));

test("shows a detail as text, without what turns its direction", () => {
  expect(detailOf({ a: 1 })).toBe('{\n  "a": 1\n}');
  expect(detailOf("<b>\u202e")).toBe("<b>\ufffd");
  expect(detailOf(null)).toBe("");
});

test.each([
  ["ok", "well"],
  ["accepted", "well"],
  ["repeated: accepted", "well"],
  ["pending", "open"],
  ["sent", "open"],
  ["refused: somebody holds it", "failed"],
  ["failed: the device refuses it", "failed"],
  ["the device reports another value", "failed"],
])("an entry that ended with %s is %s", (outcome, end) => {
  expect(endOf(outcome)).toBe(end);
});

test.each([
  ["ok", "ok"],
  ["repeated: accepted", "repeated: accepted"],
  ["not-found: there is no such point", "not found: there is no such point"],
  ["the device reports another value", "the device reports another value"],
])("says of the outcome %s how it ended", (outcome, words) =>
  expect(outcomeWords(outcome)).toBe(words),
);

test("names actions, and leaves those that it does not know", () => {
  expect(actionWords("config.apply")).toBe("Configuration changed");
  expect(actionWords("toString")).toBe("toString");
});
