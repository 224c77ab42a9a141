import { expect, test } from "vitest";
import { degreesWords, extentOf, fitted, lines, positionOf } from "./map";

const site = (latitude: number, longitude: number) => ({ name: "x", latitude, longitude });

test("all sites are on the map, whatever its shape", () => {
  const sites = [site(52.5, 13.4), site(48.1, 11.6), site(53.6, 10)];
  for (const [width, height] of [
    [800, 200],
    [200, 800],
  ] as const) {
    const extent = fitted(extentOf(sites), width, height);
    for (const s of sites) {
      const { x, y } = positionOf(extent, s);
      expect(x > 0 && x < 1 && y > 0 && y < 1).toBe(true);
    }
  }
});

test("one site is in the middle", () => {
  const extent = fitted(extentOf([site(-33.9, 151.2)]), 400, 300);
  const { x, y } = positionOf(extent, site(-33.9, 151.2));
  expect([x.toFixed(6), y.toFixed(6)]).toEqual(["0.500000", "0.500000"]);
});

test("lines are at round degrees", () => {
  expect(lines(9.2, 13.9)).toEqual([10, 11, 12, 13]);
  expect(lines(-180, 180)).toEqual([-100, 0, 100]);
  expect(degreesWords(-33.9, "N", "S")).toBe("33.9° S");
  expect(degreesWords(0, "N", "S")).toBe("0°");
});
