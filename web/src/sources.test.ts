import { expect, test } from "vitest";
import { dateTime } from "./format";
import { isWhole, missingOf } from "./sources";

const from = "2026-03-01T12:01:00Z";
const to = "2026-03-01T12:09:00Z";

test("nothing is said of nodes that gave what they have", () => {
  expect(missingOf(undefined)).toBe("");
  expect(missingOf([{ node: "north", state: "asked", samples: 7 }])).toBe("");
  expect(isWhole([{ node: "north", state: "stored", samples: 0 }])).toBe(true);
});

test("a node that has not answered is named with the time of which samples may be missing", () => {
  const late = { node: "north", state: "late" as const, samples: 0, from, to };
  expect(missingOf([late])).toBe(
    `north has not answered: from ${dateTime(Date.parse(from))} to ${dateTime(Date.parse(to))} samples may be missing.`,
  );
  expect(isWhole([late])).toBe(false);
});

test("of many nodes the first are named", () => {
  const many = ["a", "b", "c", "d", "e"].map((node) => ({
    node,
    state: "unreachable" as const,
    samples: 0,
    to,
  }));
  expect(missingOf(many)).toContain("c is not connected: from the beginning");
  expect(missingOf(many)).toContain("Of 2 more nodes samples may be missing, too.");
});
