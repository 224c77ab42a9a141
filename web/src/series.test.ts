import { describe, expect, test } from "vitest";
import type { PlotSeries } from "./api";
import { percent } from "./format";
import {
  type Asked,
  append,
  beginOf,
  completeness,
  continueWith,
  curveOf,
  numeric,
  valueAt,
} from "./series";
import places from "./testdata/places.json";

const series = (samples: PlotSeries["samples"], more: Partial<PlotSeries> = {}): PlotSeries => ({
  point: "p",
  unit: "kW",
  kind: "float",
  samples,
  expected: 10,
  present: 10,
  extra: 0,
  bad: 0,
  ...more,
});

const asked = (intervalMs: number, stepMs: number): Asked => ({ to: 100_000, intervalMs, stepMs });

describe("a curve", () => {
  test("has a gap where the quality is bad and where samples are missing", () => {
    const curve = curveOf(
      series([
        [0, 1],
        [1000, 2],
        [2000, null, "bad(timeout)"],
        [3000, 3],
        [9000, 4],
      ]),
      asked(1000, 500),
    );
    expect(curve.times).toEqual([0, 1000, 2000, 3000, 3001, 9000]);
    expect(curve.values).toEqual([1, 2, null, 3, null, 4]);
  });

  test("has no hole where a gap was filled from the log of the device", () => {
    const curve = curveOf(
      series([
        [0, 1],
        [1000, null, "bad(timeout)"],
        [1500, 2, "good(backfilled)"],
        [2000, null, "bad(timeout)"],
        [2500, 3],
      ]),
      asked(1000, 500),
    );
    expect(curve.values).toEqual([1, 2, 3]);
  });

  test("has no gap between pixels that are wider than the interval", () => {
    expect(
      curveOf(
        series([
          [0, 1],
          [9000, 2],
        ]),
        asked(1000, 5000),
      ).values,
    ).toEqual([1, 2]);
  });

  test("has no gap when nobody knows how often a sample comes", () => {
    expect(
      curveOf(
        series([
          [0, 1],
          [1e9, 2],
        ]),
        asked(0, 1000),
      ).values,
    ).toEqual([1, 2]);
  });

  test("ignores samples that are not newer", () => {
    const curve = curveOf(series([[1000, 1]]), asked(1000, 1000));
    expect(append(curve, 1000, 9)).toBe(false);
    expect(append(curve, 500, 9)).toBe(false);
    expect(append(curve, 2000, 2)).toBe(true);
    expect(curve.values).toEqual([1, 2]);
  });

  test("is continued by what came live after the answer", () => {
    const old = curveOf(
      series([
        [0, 1],
        [1000, 2],
        [2000, 3],
      ]),
      asked(1000, 1000),
    );
    const fresh = curveOf(
      series([
        [500, 1.5],
        [1000, 2.5],
      ]),
      asked(1000, 1000),
    );
    expect(continueWith(fresh, old).values).toEqual([1.5, 2.5, 3]);
    expect(continueWith(fresh, undefined)).toBe(fresh);
  });

  test("knows its value at any time", () => {
    const curve = curveOf(
      series([
        [1000, 1],
        [2000, null],
        [3000, 3],
      ]),
      asked(0, 1),
    );
    expect([500, 1000, 1999, 2500, 9000].map((t) => valueAt(curve, t))).toEqual([
      undefined,
      1,
      1,
      null,
      3,
    ]);
  });
});

test.each([
  [1.5, undefined, 1.5],
  [true, undefined, 1],
  [false, undefined, 0],
  [5, "bad(sensor)", null],
  [5, "uncertain(range)", 5],
  ["NaN", undefined, null],
  [null, undefined, null],
  [undefined, undefined, null],
])("%j of quality %j is drawn as %j", (value, quality, want) => {
  expect(numeric(value, quality)).toBe(want);
});

describe("completeness", () => {
  const of = (...list: Partial<PlotSeries>[]) =>
    completeness(list.map((l) => curveOf(series([], l), asked(0, 1))));
  test("says that nothing is missing", () => {
    expect(of({ expected: 900, present: 900 })).toBe(
      "Complete: all 900 expected samples are there",
    );
  });
  test("does not let a surplus of one hide a lack of another", () => {
    expect(of({ expected: 100, present: 150 }, { expected: 100, present: 50 })).toBe(
      "75.0 % complete: 150 of 200 expected samples are there",
    );
  });
  test("does not let a surplus at one time hide a lack at another", () => {
    expect(of({ expected: 100, present: 100, extra: 30 })).toBe(
      "70.0 % complete: 70 of 100 expected samples are there",
    );
  });
  // What a node answered about a point that reports too often, not at all, unevenly, and as it should
  test.each(Object.entries(places))("says of a %s what the node says", (_, answer) => {
    expect(completeness(answer.series).split(" complete")[0]).toBe(percent(answer.completeness, 1));
  });
  test("counts bad samples", () => {
    expect(of({ expected: 10, present: 8, bad: 2 })).toBe(
      "80.0 % complete: 8 of 10 expected samples are there; 2 without a usable value",
    );
  });
  test("admits when nothing is known", () => {
    expect(of({ expected: null, present: 3 })).toBe("3 samples; how many to expect is not known");
  });
});

describe("a live plot", () => {
  const young = (expected: number | null, intervalMs: number) =>
    curveOf(series([], { expected }), { to: 1_000_000, stepMs: 1, intervalMs });

  test.each([
    ["its range for old points", [young(900, 1000)], 100_000],
    ["the oldest point's history", [young(200, 1000), young(300, 1000)], 699_000],
    ["a minute back for points just made", [young(0, 1000)], 940_000],
    ["its range when an interval is unknown", [young(200, 1000), young(null, 0)], 100_000],
    ["its range when nothing is plotted", [], 100_000],
  ])("begins with %s", (_, curves, want) => {
    expect(beginOf(curves, 100_000, 1_000_000)).toBe(want);
  });
});
