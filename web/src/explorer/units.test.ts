import { describe, expect, test } from "vitest";
import { differenceOf, integralOf, isAlike, parseUnit, productOf, rootOf } from "./units";

const times = (a: string, b: string) => productOf(parseUnit(a), parseUnit(b), 1);
const over = (a: string, b: string) => productOf(parseUnit(a), parseUnit(b), -1);

describe("units", () => {
  test.each([
    ["kW", "h", "kWh", 1],
    ["V", "A", "W", 1],
    ["m3/h", "h", "m3", 1],
    ["kW", "%", "kW", 0.01],
    ["", "kW", "kW", 1],
    ["kW", "EUR/kWh", "kW·EUR/kWh", 1],
  ])("%s × %s is in %s", (a, b, name, factor) => {
    const { unit, factor: by } = times(a, b);
    expect([unit.name, by]).toEqual([name, factor]);
  });

  test.each([
    ["kWh", "h", "kW", 1],
    ["kW", "kW", "", 1],
    ["kW", "W", "", 1000],
    ["kWh", "m2", "kWh/m2", 1],
    ["m3", "h", "m3/h", 1],
    ["", "s", "Hz", 1],
    ["kg", "m3/h", "kg/(m3/h)", 1],
  ])("%s ÷ %s is in %s", (a, b, name, factor) => {
    const { unit, factor: by } = over(a, b);
    expect(unit.name).toBe(name);
    expect(by).toBeCloseTo(factor, 9);
  });

  test("measure the same, or not", () => {
    expect(isAlike(parseUnit("kWh"), parseUnit("MJ"))).toBe(true);
    expect(isAlike(parseUnit("m³/h"), parseUnit("l/s"))).toBe(true);
    expect(isAlike(parseUnit("kW"), parseUnit("kvar"))).toBe(false);
    expect(isAlike(parseUnit("furlong"), parseUnit("furlong"))).toBe(true);
    expect(isAlike(parseUnit("furlong"), parseUnit("m"))).toBe(false);
    expect(isAlike(parseUnit("__proto__"), parseUnit("constructor"))).toBe(false);
  });

  test("of differences, roots and integrals", () => {
    expect(differenceOf(parseUnit("degC")).name).toBe("K");
    expect(differenceOf(parseUnit("kW")).name).toBe("kW");
    expect(rootOf(parseUnit("m2"))?.name).toBe("m");
    expect(rootOf(parseUnit("kW"))).toBeUndefined();
    expect(integralOf(parseUnit("kW")).unit.name).toBe("kWh");
    expect(integralOf(parseUnit("%")).unit.name).toBe("h");
  });
});
