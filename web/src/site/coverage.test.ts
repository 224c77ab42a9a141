import { describe, expect, test } from "vitest";
import { holesOf, shadeOf, spanIn } from "./coverage";

const map = { from: "2026-01-01T00:00:00Z", step: 3600 };
const row = (coverage: (number | null)[]) => ({
  path: "a",
  points: 1,
  present: 0,
  expected: 0,
  coverage,
});
const hour = (n: number) => Date.parse("2026-01-01T00:00:00Z") + n * 3_600_000;

describe("the holes of a row", () => {
  test.each([
    ["are none where all is there", [1, 1], []],
    ["are none where nothing was expected", [null, null], []],
    ["join neighbours", [1, 0, 0.5, 1], [[1, 3, 0.25]]],
    [
      "end where nothing was expected",
      [0, null, 0],
      [
        [0, 1, 0],
        [2, 3, 0],
      ],
    ],
    ["reach to the end", [1, 0.99], [[1, 2, 0.99]]],
  ] as [string, (number | null)[], number[][]][])("%s", (_, coverage, wanted) => {
    expect(holesOf(row(coverage), map)).toEqual(
      wanted.map(([from = 0, to = 0, coverage]) => ({
        path: "a",
        from: hour(from),
        to: hour(to),
        coverage,
      })),
    );
  });
});

describe("the shade of a cell", () => {
  test.each([
    [null, "none"],
    [1, "full"],
    [0.9999, "few"],
    [0.95, "few"],
    [0.9, "some"],
    [0.2, "most"],
    [0, "all"],
  ])("%s is %s", (coverage, shade) => expect(shadeOf(coverage)).toBe(shade));
});

describe("the span of an address", () => {
  test.each([
    ["?span=7d", "7d"],
    ["", "1d"],
    ["?span=nonsense", "1d"],
  ])("%s is %s", (search, key) => expect(spanIn(search).key).toBe(key));
});
