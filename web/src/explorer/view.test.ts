import { describe, expect, test } from "vitest";
import { type ExplorerView, formatExplorer, mostCurves, parseExplorer, shiftOf } from "./view";

const view: ExplorerView = {
  points: ["campus/a b", "campus/c&d=#1"],
  range: { from: Date.UTC(2026, 0, 1), to: Date.UTC(2026, 1, 1) },
  comparison: "week",
  difference: true,
  statistics: true,
  clock: "utc",
  step: "1d",
  figure: "max",
  show: "table",
  formulas: ["'a/b' * 2", "mean('a')"],
  x: "a/b",
  y: "'a/b' * 2",
};

const search = (address: string) => new URL(address, "http://node").search;

describe("an address", () => {
  test("gives back the view that made it", () => {
    expect(parseExplorer(search(formatExplorer(view)))).toEqual(view);
    const plain: ExplorerView = {
      points: [],
      range: { last: 86_400_000 },
      comparison: "",
      difference: false,
      statistics: false,
      clock: "site",
      step: "",
      figure: "mean",
      show: "plot",
      formulas: [],
      x: "",
      y: "",
    };
    expect(parseExplorer(search(formatExplorer(plain)))).toEqual(plain);
    expect(formatExplorer(plain)).toBe("/explore?range=1d");
  });

  test("that nobody made gives the defaults", () => {
    expect(parseExplorer("?compare=<b>&step=7x&figure=__proto__&show=&range=&point=")).toEqual({
      points: [],
      range: { last: 3_600_000 },
      comparison: "",
      difference: false,
      statistics: false,
      clock: "site",
      step: "",
      figure: "mean",
      show: "plot",
      formulas: [],
      x: "",
      y: "",
    });
  });

  test("holds each point once, and no more than can be drawn", () => {
    const many = Array.from({ length: 300 }, (_, i) => `point=${i}&point=${i}`).join("&");
    expect(parseExplorer(`?${many}`).points).toHaveLength(mostCurves);
  });
});

describe("a comparison", () => {
  const at = (y: number, m: number, d: number) => new Date(y, m - 1, d, 12).getTime();

  test.each([
    ["day", at(2026, 3, 10), at(2026, 3, 9)],
    ["week", at(2026, 3, 10), at(2026, 3, 3)],
    ["month", at(2026, 3, 31), at(2026, 2, 28)],
    ["year", at(2024, 2, 29), at(2023, 2, 28)],
  ] as const)("with the %s before goes to the same time of day", (comparison, from, then) => {
    expect(from - shiftOf(comparison, from)).toBe(then);
  });

  test("with nothing shifts nothing", () => {
    expect(shiftOf("", at(2026, 1, 1))).toBe(0);
  });
});
