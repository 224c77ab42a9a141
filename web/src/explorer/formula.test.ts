import { describe, expect, test } from "vitest";
import type { Curve } from "../series";
import { computedCurve, knownOf } from "./computed";
import { FormulaError, parseFormula, withPaths } from "./formula";

const units: Record<string, string> = {
  "b/power": "kW",
  "b/supply": "degC",
  "b/return": "degC",
  "b/energy": "kWh",
  "b/flow": "m3/h",
  "b/o'clock": "",
};
const points = Object.keys(units);
const known = knownOf(points, (path) => units[path] ?? "");
const read = (text: string) => parseFormula(text, known);

const hour = 3_600_000;
const curve = (point: string, values: (number | null)[], more: Partial<Curve> = {}): Curve => ({
  point,
  unit: units[point] ?? "",
  kind: "float",
  times: values.map((_, i) => i * hour),
  values,
  gapMs: 0,
  expected: null,
  present: 0,
  extra: 0,
  bad: 0,
  since: 0,
  ...more,
});
const run = (text: string, ...curves: Curve[]) => computedCurve(read(text), curves).values;

describe("a formula", () => {
  test.each([
    ["A * 2", "kW"],
    ["A * 1[h]", "kWh"],
    ["'b/power' * 30[min] + D", "kW·min"],
    ["B - C", "K"],
    ["B + 2[K]", "degC"],
    ["(B - C) * E", "K·m3/h"],
    ["D / 1[h] + A", "kW"],
    ["mean(B, C)", "degC"],
    ["integral(A)", "kWh"],
    ["integral(E)", "m3"],
    ["rate(D)", "kW"],
    ["rate(B)", "K/h"],
    ["delta(B)", "K"],
    ["sqrt(A * A)", "kW"],
    ["A / A", ""],
    ["A * 0.38[EUR/kWh]", "kW·EUR/kWh"],
    ["−A × 2 ÷ 4", "kW"],
    ["max(abs(A), 5[W], 1[MW])", "kW"],
  ])("%s is in %s", (text, unit) => {
    expect(read(text).unit.name).toBe(unit);
  });

  const faults: [string, number, number, RegExp][] = [
    ["A + D", 4, 1, /kW and kWh cannot be added/],
    ["A + 5", 4, 1, /write the unit of a number in brackets, such as 5\[kW\]/],
    ["B + C", 4, 1, /use mean/],
    ["2 * B", 4, 1, /subtract another temperature first/],
    ["A - B", 4, 1, /kW and degC cannot/],
    ["integral(B)", 9, 1, /not possible with a temperature in degC/],
    ["sqrt(A)", 5, 1, /no square root/],
    ["A *", 3, 1, /ends here/],
    ["(A + A", 0, 1, /not closed/],
    ["A A", 2, 1, /operator such as \+ is missing/],
    ["A + 'gone/away'", 4, 11, /not among the shown points/],
    ["A + Z", 4, 1, /Z is not known/],
    ["sum(A)", 0, 3, /there are min, max, mean/],
    ["abs(A, A)", 7, 1, /takes one value/],
    ["min()", 0, 3, /needs values/],
    ["A + §", 4, 1, /means nothing/],
    ["A + 'b", 4, 1, /not closed/],
    ["5[kW", 1, 1, /not closed/],
    ["mean(B, 3[K])", 8, 4, /one is a temperature/],
    ["", 0, 1, /ends here/],
    ["constructor(A)", 0, 11, /is not a function/],
  ];
  test.each(faults)("%j is wrong at %i", (text, at, length, why) => {
    let found: unknown;
    try {
      read(text);
    } catch (err) {
      found = err;
    }
    expect(found).toBeInstanceOf(FormulaError);
    const error = found as FormulaError;
    expect([error.at, error.length]).toEqual([at, length]);
    expect(error.message).toMatch(why);
  });

  test("is refused if it is huge or nested too deeply", () => {
    expect(() => read(`${"(".repeat(400)}A${")".repeat(400)}`)).toThrow(/nested/);
    expect(() => read("-".repeat(400))).toThrow(/nested/);
    expect(() => read(`A${"+A".repeat(600)}`)).toThrow(/at most/);
  });

  test("keeps the paths for which letters stood", () => {
    expect(withPaths(" max(A,  F) + 2[kW]", known)).toBe("max('b/power',  \"b/o'clock\") + 2[kW]");
    expect(withPaths("'A' + A", known)).toBe("'A' + 'b/power'");
  });
});

describe("a computed series", () => {
  test("follows operators, precedence and parentheses", () => {
    const power = curve("b/power", [10, 20, null, 40]);
    expect(run("A * 2 + 1[kW] * 3", power)).toEqual([23, 43, null, 83]);
    expect(run("(A + 1000[W]) * 3", power)).toEqual([33, 63, null, 123]);
    expect(run("-A - A / 2", power)).toEqual([-15, -30, null, -60]);
    expect(run("A / (A - 20[kW])", power)).toEqual([-1, null, null, 2]);
  });

  test("converts what measures the same", () => {
    const supply = curve("b/supply", [68]);
    expect(run("B - 212[degF]", supply)[0]).toBeCloseTo(-32, 3);
    expect(run("max(B, 212[degF])", supply)[0]).toBeCloseTo(100, 3);
    expect(run("A * 50[%]", curve("b/power", [10]))).toEqual([5]);
  });

  test("has a value wherever one of its points has one, from what holds then", () => {
    const supply = curve("b/supply", [60, 61], { times: [0, hour] });
    const back = curve("b/return", [40, 41, 42], { times: [-5, hour / 2, hour] });
    const { times, values } = computedCurve(read("B - C"), [supply, back]);
    expect(times).toEqual([-5, 0, hour / 2, hour]);
    expect(values).toEqual([null, 20, 19, 19]);
  });

  test("looks back, but not over a gap", () => {
    const energy = curve("b/energy", [1, 3, null, 10, 14]);
    expect(run("delta(D)", energy)).toEqual([null, 2, null, null, 4]);
    expect(run("rate(D)", energy)).toEqual([null, 2, null, null, 4]);
    const power = curve("b/power", [2, 4, null, 6, 0]);
    expect(run("integral(A)", power)).toEqual([0, 2, null, 6, 12]);
  });

  test("is empty while a point is not loaded", () => {
    expect(computedCurve(read("A + A"), []).times).toEqual([]);
    expect(computedCurve(read("1 + 1"), []).times).toEqual([]);
  });
});
