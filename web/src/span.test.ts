import { describe, expect, test } from "vitest";
import { panBy, pinch, pressed, within, zoomAt } from "./span";

describe("zooming", () => {
  test("keeps what is under the pointer", () => {
    expect(zoomAt([0, 100_000], 0.5, 0.25)).toEqual([12_500, 62_500]);
    expect(zoomAt([0, 100_000], 2, 1)).toEqual([-100_000, 100_000]);
  });

  test("ends at a second and at twenty years", () => {
    const [from, to] = zoomAt([0, 1500], 0.01, 0.5);
    expect(to - from).toBe(1000);
    const [a, b] = zoomAt([0, 1e12], 100, 0.5);
    expect(b - a).toBe(20 * 366 * 86_400_000);
  });
});

describe("two fingers", () => {
  test("that spread narrow the span around what is between them", () => {
    expect(pinch([0, 100_000], [0.4, 0.6], [0.3, 0.7])).toEqual([25_000, 75_000]);
  });

  test("that move together move the span", () => {
    expect(pinch([0, 100_000], [0.4, 0.6], [0.5, 0.7])).toEqual([-10_000, 90_000]);
  });
});

describe("a span", () => {
  test("moves by shares of its width", () => {
    expect(panBy([0, 1000], 0.5)).toEqual([500, 1500]);
  });

  test("does not run into the future", () => {
    expect(within([1000, 2000], 1800)).toEqual([1000, 2000]);
    expect(within([5000, 6000], 1000)).toEqual([500, 1500]);
  });

  test.each([
    ["ArrowLeft", [-1000, 9000]],
    ["ArrowRight", [1000, 11_000]],
    ["PageUp", [-10_000, 0]],
    ["PageDown", [10_000, 20_000]],
    ["+", [2500, 7500]],
    ["-", [-5000, 15_000]],
  ])("follows the key %s", (key, expected) => {
    expect(pressed([0, 10_000], key)).toEqual(expected);
  });

  test("does not follow other keys", () => {
    expect(pressed([0, 10_000], "x")).toBeUndefined();
  });
});
