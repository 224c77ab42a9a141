import { expect, test } from "vitest";
import { lackIn, lackOf, nameFor, newTile, readSites, sitesText } from "./draft";

test("a new tile stands where there is room, and says what it needs", () => {
  const tile = newTile([], "trend");
  expect(tile).toEqual({ kind: "trend", x: 0, y: 0, w: 6, h: 5, range: "1d" });
  expect(newTile([tile], "value")).toMatchObject({ x: 6, y: 0 });
  expect(lackOf(tile)).toBe("Choose 1 to 8 points");
  expect(lackOf({ ...tile, points: ["a"] })).toBe("");
  expect(lackIn({ name: "a", tiles: [newTile([], "alarms"), tile] })).toMatch(/^Tile 2: Choose/);
});

test("names are made of titles", () => {
  expect(nameFor("Erdgeschoß Süd (1)")).toBe("erdgescho-sud-1");
  expect(nameFor("??")).toBe("dashboard");
  expect(nameFor("a".repeat(90))).toHaveLength(64);
});

test("sites are read line by line", () => {
  const { sites, problem } = readSites("Berlin, 52.52, 13.4, campus/b1\n\nSydney, -33.9, 151.2");
  expect(problem).toBe("");
  expect(sites).toEqual([
    { name: "Berlin", latitude: 52.52, longitude: 13.4, branch: "campus/b1" },
    { name: "Sydney", latitude: -33.9, longitude: 151.2 },
  ]);
  expect(readSites(sitesText(sites)).sites).toEqual(sites);
  expect(readSites("Berlin, 52.52").problem).toMatch(/^Line 1: write name/);
  expect(readSites("Berlin, 252, 13").problem).toMatch(/^Line 1/);
});
