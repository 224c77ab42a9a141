import { describe, expect, test } from "vitest";
import type { Curve } from "../series";
import { differenceCurve } from "./difference";
import { changeOf, integral, percentileOf, statisticsOf, statisticsOfCurve } from "./statistics";

const curve = (values: (number | null)[], more: Partial<Curve> = {}): Curve => ({
  point: "a/b",
  unit: "kW",
  kind: "float",
  times: values.map((_, i) => i * 1000),
  values,
  gapMs: 0,
  expected: null,
  present: 0,
  extra: 0,
  bad: 0,
  since: 0,
  ...more,
});

const day = 86_400_000;
const counts = (present: number) => ({ expected: 100, present, extra: 0, bad: 0 });

describe("statistics", () => {
  test("of an answer without samples say nothing", () => {
    expect(statisticsOf(undefined)).toMatchObject({ count: 0, mean: null, p95: null });
    expect(statisticsOf({ count: 1, values: { mean: 2 } }).median).toBeNull();
  });

  test("of a curve are those of its values", () => {
    const s = statisticsOfCurve(curve([1, 2, null, 3, 10]), [0, 4000]);
    expect(s).toMatchObject({ count: 3, mean: 2, min: 1, max: 3, sum: 6, stddev: 1, median: 2 });
    // Each holds a second; the last one is cut at the end
    expect(s.weighted).toBe(2);
    expect(percentileOf([0, 10], 0.95)).toBeCloseTo(9.5);
  });

  test("integrate power over the time that has samples only", () => {
    const s = statisticsOf({ count: 1, values: { timeweighted: 10 } });
    expect(integral(s, "kW", [0, day], counts(100))).toEqual({ value: 240, unit: "kWh" });
    expect(integral(s, "kW", [0, day], counts(50))?.value).toBe(120);
    expect(integral(s, "m3/h", [0, day], counts(100))?.unit).toBe("m3");
    expect(integral(s, "degC", [0, day], counts(100))).toBeUndefined();
    expect(integral(s, "kWh", [0, day], counts(100))).toBeUndefined();
    expect(integral(s, "kW", [0, day], { ...counts(0), expected: null })).toBeUndefined();
  });

  test("compare in kelvin, and in shares where 0 is no agreement", () => {
    expect(changeOf(22, 20, "degC")).toEqual({ value: 2, unit: "K", share: undefined });
    expect(changeOf(12, 10, "kW")?.share).toBeCloseTo(0.2);
    expect(changeOf(5, -10, "kW")?.share).toBeCloseTo(1.5);
    expect(changeOf(5, 0, "kW")?.share).toBeUndefined();
    expect(changeOf(null, 1, "kW")).toBeUndefined();
  });
});

describe("a difference", () => {
  test("is taken at the times of the curve, and from what held then", () => {
    const before = curve([10, null, 30, 40], { times: [-500, 500, 1500, 2500] });
    const { values, unit } = differenceCurve(curve([11, 12, 33, null]), before);
    expect(values).toEqual([1, null, 3, null]);
    expect(unit).toBe("Δ kW");
    expect(differenceCurve(curve([1], { unit: "degC" }), before).unit).toBe("Δ K");
  });
});
