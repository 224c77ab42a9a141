import { describe, expect, test } from "vitest";
import { stretches } from "./compose";
import { type Summary, summaryCells, summaryCurve } from "./summary";

const hour = 3_600_000;
const at = (h: number) => new Date(h * hour).toISOString();

const summary = (...hours: [number, number | null][]): Summary => ({
  point: "a",
  unit: "kW",
  expected: null,
  present: 0,
  extra: 0,
  bad: 0,
  buckets: hours.map(([h, max]) => ({
    start: at(h),
    end: at(h + 1),
    count: max === null ? 0 : 60,
    bad: max === null ? 60 : 0,
    values: { max },
  })),
});

describe("the curve of steps", () => {
  test("holds each figure until the next step, and the last one until its end", () => {
    const curve = summaryCurve(summary([0, 5], [1, 7]), "max");
    expect(curve.times).toEqual([0, hour, 2 * hour - 1, 2 * hour]);
    expect(curve.values).toEqual([5, 7, 7, null]);
    expect(curve.stepped).toBe(true);
  });

  test("ends before a step without samples, which is no bad one", () => {
    const curve = summaryCurve(summary([0, 5], [3, 7]), "max");
    expect(curve.values).toEqual([5, 5, null, 7, 7, null]);
    expect(stretches(curve, 0, 5 * hour)).toEqual([
      { from: 0, to: hour - 1, kind: "good" },
      { from: 3 * hour, to: 4 * hour - 1, kind: "good" },
    ]);
  });

  test("counts samples in no unit", () => {
    const curve = summaryCurve(summary([0, 5]), "count");
    expect(curve.values[0]).toBe(60);
    expect(curve.unit).toBe("");
  });
});

describe("the cells of steps", () => {
  test("say where all samples were bad", () => {
    expect(summaryCells(summary([0, 5], [1, null]), "max")).toEqual([
      { time: 0, value: 5, quality: "" },
      { time: hour, value: null, quality: "bad" },
    ]);
  });
});
