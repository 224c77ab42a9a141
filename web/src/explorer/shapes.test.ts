import { describe, expect, test } from "vitest";
import type { Curve } from "../series";
import { instantOf } from "../zone";
import { dotsOf, heatOf, lastingOf, regressionOf, ticksOf } from "./shapes";

const hour = 3_600_000;
const berlin = "Europe/Berlin";
const curve = (times: number[], values: (number | null)[]): Curve => ({
  point: "a",
  unit: "kW",
  kind: "float",
  times,
  values,
  gapMs: 0,
  expected: null,
  present: 0,
  extra: 0,
  bad: 0,
  since: 0,
});
const every = (from: number, many: number, step = hour) =>
  Array.from({ length: many }, (_, i) => from + i * step);

describe("a heat map", () => {
  test("has the hours of the site's clock, also where it changes", () => {
    const from = instantOf({ year: 2026, month: 3, day: 28 }, berlin);
    const to = instantOf({ year: 2026, month: 3, day: 31 }, berlin);
    const times = every(from, (to - from) / hour);
    const heat = heatOf(
      curve(
        times,
        times.map((_, i) => i),
      ),
      [from, to],
      berlin,
    );
    expect(heat.days.map((d) => d.day)).toEqual([28, 29, 30]);
    expect(heat.hours[0]).toEqual(Array.from({ length: 24 }, (_, i) => i));
    expect(heat.hours[1]?.slice(0, 5)).toEqual([24, 25, null, 26, 27]);
    expect([heat.low, heat.high]).toEqual([0, 70]);
  });

  test("takes the mean of what falls into an hour, twice the same one included", () => {
    const from = instantOf({ year: 2026, month: 10, day: 25 }, berlin);
    const times = every(from, 100, hour / 4);
    const heat = heatOf(
      curve(
        times,
        times.map((t) => (t < from + 3 * hour ? 1 : 3)),
      ),
      [from, from + 25 * hour],
      berlin,
    );
    expect(heat.hours[0]?.[2]).toBe(2);
    expect(heat.hours[0]?.[23]).toBe(3);
  });
});

describe("a scatter", () => {
  test("pairs values of the same time, and leaves out those without a partner", () => {
    const x = curve([0, 10, 20, 30], [1, 2, null, 4]);
    const y = curve([5, 25], [7, 9]);
    expect(dotsOf(x, y, [0, 40])).toEqual([
      { x: 2, y: 7, time: 10 },
      { x: 4, y: 9, time: 30 },
    ]);
  });

  test("has the line of least squares", () => {
    const line = [0, 1, 2, 3].map((x) => ({ x, y: 2 * x + 1, time: x }));
    expect(regressionOf(line)).toEqual({ slope: 2, intercept: 1, r2: 1 });
    // Anscombe's first quartet: y = 3 + 0.5 x with R² = 0.67
    const xs = [10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5];
    const ys = [8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68];
    const found = regressionOf(xs.map((x, i) => ({ x, y: ys[i] ?? 0, time: i })));
    expect(found?.slope).toBeCloseTo(0.5, 3);
    expect(found?.intercept).toBeCloseTo(3, 2);
    expect(found?.r2).toBeCloseTo(0.667, 3);
    expect(regressionOf(line.slice(0, 2))).toBeUndefined();
    expect(regressionOf(line.map((d) => ({ ...d, x: 1 })))).toBeUndefined();
  });
});

describe("a duration curve", () => {
  test("sorts values by size and weighs them by time, cut at the window", () => {
    const c = curve([0, 10, 20, 30, 60], [1, 5, null, 3, 3]);
    expect(lastingOf(c, [0, 60])).toEqual({
      values: [5, 3, 1],
      shares: [0.2, 0.8, 1],
      covered: 50,
    });
    expect(lastingOf(c, [5, 15])).toMatchObject({ values: [5, 1], covered: 10 });
    expect(lastingOf(curve([], []), [0, 1]).shares).toEqual([]);
  });
});

test("ticks are round", () => {
  expect(ticksOf([0, 97], 5)).toEqual([0, 20, 40, 60, 80]);
  expect(ticksOf([-0.31, 0.32], 4)).toEqual([-0.2, 0, 0.2]);
  expect(ticksOf([3, 3], 4)).toEqual([3]);
});
