import { expect, test } from "vitest";
import { bound, line } from "./draw";

test("a line goes from edge to edge, with the larger above", () => {
  expect(line([-1, 0, 1], 1)).toBe("0.0,240.0 500.0,120.0 1000.0,0.0");
});

test("what is beyond the bound stays at the edge", () => {
  expect(line([9], 3)).toBe("0.0,0.0");
});

test("the bound has all values up to a limit", () => {
  expect([bound([]), bound([0.2]), bound([-1.2]), bound([40])]).toEqual([1, 1, 1.5, 3]);
});
