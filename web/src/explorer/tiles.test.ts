import { describe, expect, test } from "vitest";
import { boundsOf, isFresh, levelFor, type Tile, TileCache, tilesOver, widthOf } from "./tiles";

const tile = (times: number[], more: Partial<Tile> = {}): Tile => ({
  times,
  values: times,
  uncertain: [],
  exact: false,
  asked: 0,
  ...more,
});

describe("a level", () => {
  test("shows at least a step for each pixel, and less than two", () => {
    for (const [span, pixels] of [
      [3_600_000, 800],
      [86_400_000, 1200],
      [31_536_000_000, 1920],
    ] as const) {
      const steps = span / 2 ** levelFor(span, pixels);
      expect(steps).toBeGreaterThanOrEqual(pixels);
      expect(steps).toBeLessThan(2 * pixels);
    }
  });

  test("does not go below a millisecond", () => {
    expect(levelFor(100, 1000)).toBe(0);
  });
});

describe("the tiles of a window", () => {
  test("cover it and no more", () => {
    const width = widthOf(4);
    expect(tilesOver(4, 0, width)).toEqual([0, 0]);
    expect(tilesOver(4, width / 2, 2 * width + 1)).toEqual([0, 2]);
    expect(tilesOver(4, -1, 1)).toEqual([-1, 0]);
    expect(boundsOf({ level: 4, first: 1, last: 2 })).toEqual([width, 3 * width]);
  });
});

describe("freshness", () => {
  const run = { level: 10, first: 0, last: 0 };
  const end = widthOf(10);

  test("of the past lasts for minutes", () => {
    const past = tile([], { asked: end + 100_000 });
    expect(isFresh(past, run, end + 400_000)).toBe(true);
    expect(isFresh(past, run, end + 900_000)).toBe(false);
  });

  test("of the present lasts for seconds", () => {
    const present = tile([], { asked: end / 2 });
    expect(isFresh(present, run, end / 2 + 4000)).toBe(true);
    expect(isFresh(present, run, end / 2 + 6000)).toBe(false);
  });
});

describe("the cache", () => {
  test("gives the tile that was asked for", () => {
    const cache = new TileCache();
    cache.put("a", 3, 1, tile([1]));
    expect(cache.find("a", { level: 3, first: 1, last: 1 })).toMatchObject({ complete: true });
    expect(cache.find("b", { level: 3, first: 1, last: 1 })).toEqual({
      tiles: [],
      complete: false,
    });
  });

  test("has a coarser one stand in until the right one is there", () => {
    const cache = new TileCache();
    cache.put("a", 5, 0, tile([7]));
    const found = cache.find("a", { level: 3, first: 2, last: 2 });
    expect(found.complete).toBe(false);
    expect(found.tiles).toEqual([
      { tile: tile([7]), from: 2 * widthOf(3), to: 3 * widthOf(3), step: 32 },
    ]);
  });

  test("wants nothing closer where a coarser one holds all samples", () => {
    const cache = new TileCache();
    cache.put("a", 5, 0, tile([7], { exact: true }));
    expect(cache.find("a", { level: 3, first: 0, last: 3 }).complete).toBe(true);
  });

  test("has finer ones stand in, as far as there are any", () => {
    const cache = new TileCache();
    cache.put("a", 2, 1, tile([9]));
    const found = cache.find("a", { level: 3, first: 0, last: 0 });
    expect(found.complete).toBe(false);
    expect(found.tiles).toMatchObject([{ from: widthOf(2), to: 2 * widthOf(2) }]);
  });

  test("forgets what was not used for the longest", () => {
    const cache = new TileCache(40);
    for (let i = 0; i < 4; i++) {
      cache.put("a", 0, i, tile([1, 2]));
      cache.get("a", 0, 0);
    }
    cache.put("a", 0, 4, tile([1, 2]));
    expect(cache.size).toBeLessThanOrEqual(40);
    expect(cache.get("a", 0, 0)).toBeDefined();
    expect(cache.get("a", 0, 1)).toBeUndefined();
    expect(cache.get("a", 0, 4)).toBeDefined();
  });
});
