import { expect, test } from "vitest";
import {
  boxWords,
  changeWords,
  clamped,
  dragged,
  freeSpot,
  keyed,
  overlaps,
  placed,
  readingOrder,
  withoutGaps,
} from "./grid";

const box = (x: number, y: number, w: number, h: number) => ({ x, y, w, h });

test("boxes stay within the grid", () => {
  expect(clamped(box(11, -2, 4, 0))).toEqual(box(8, 0, 4, 1));
  expect(clamped(box(-1, 5000, 40, 99))).toEqual(box(0, 1000, 12, 40));
});

test("a tile that is put onto others pushes them down, and those below them", () => {
  const tiles = [box(0, 0, 4, 2), box(4, 0, 4, 2), box(4, 2, 8, 3), box(8, 0, 4, 2)];
  const moved = placed(tiles, 0, box(4, 1, 4, 2));
  expect(moved).toEqual([box(4, 1, 4, 2), box(4, 3, 4, 2), box(4, 5, 8, 3), box(8, 0, 4, 2)]);
  expect(tiles[1]).toEqual(box(4, 0, 4, 2));
});

test("however tiles are moved, none covers another", () => {
  let seed = 7;
  const random = (n: number) => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return seed % n;
  };
  let tiles = Array.from({ length: 12 }, (_, i) => box((i % 4) * 3, Math.floor(i / 4) * 2, 3, 2));
  for (let round = 0; round < 300; round++) {
    const i = random(tiles.length);
    tiles = placed(tiles, i, box(random(14) - 1, random(9) - 1, random(13), random(6)));
    if (round % 10 === 0) tiles = withoutGaps(tiles);
    const clash = tiles.some((a, k) => tiles.some((b, l) => k < l && overlaps(a, b)));
    expect(clash).toBe(false);
  }
});

test("gaps close upwards, in the order of reading", () => {
  const tiles = [box(0, 9, 6, 2), box(0, 4, 3, 2), box(6, 4, 6, 1)];
  expect(withoutGaps(tiles)).toEqual([box(0, 2, 6, 2), box(0, 0, 3, 2), box(6, 0, 6, 1)]);
  expect(readingOrder(tiles)).toEqual([1, 2, 0]);
});

test("a new tile gets the first room", () => {
  expect(freeSpot([], 4, 3)).toEqual(box(0, 0, 4, 3));
  expect(freeSpot([box(0, 0, 6, 2), box(8, 0, 4, 2)], 4, 2)).toEqual(box(0, 2, 4, 2));
  expect(freeSpot([box(0, 0, 6, 2)], 6, 2)).toEqual(box(6, 0, 6, 2));
});

test("arrow keys move, with shift they resize, and others do nothing", () => {
  expect(keyed(box(3, 1, 4, 2), "ArrowLeft", false)).toEqual(box(2, 1, 4, 2));
  expect(keyed(box(0, 0, 4, 2), "ArrowUp", false)).toEqual(box(0, 0, 4, 2));
  expect(keyed(box(8, 0, 4, 2), "ArrowRight", true)).toEqual(box(8, 0, 4, 2));
  expect(keyed(box(3, 1, 4, 2), "ArrowDown", true)).toEqual(box(3, 1, 4, 3));
  expect(keyed(box(3, 1, 1, 1), "ArrowLeft", true)).toEqual(box(3, 1, 1, 1));
  expect(keyed(box(3, 1, 1, 1), "toString", false)).toBeUndefined();
});

test("a drag goes by whole cells", () => {
  const cell = { width: 100, height: 60 };
  expect(dragged(box(0, 0, 3, 2), { x: 240, y: 31 }, cell, false)).toEqual(box(2, 1, 3, 2));
  expect(dragged(box(9, 0, 3, 2), { x: 240, y: 130 }, cell, true)).toEqual(box(9, 0, 3, 4));
});

test("what changed is said in words", () => {
  expect(boxWords(box(3, 0, 3, 2))).toBe("column 4, row 1, 3 wide, 2 high");
  expect(changeWords(box(0, 0, 1, 1), box(1, 2, 1, 1))).toBe("Moved to column 2, row 3");
  expect(changeWords(box(0, 0, 1, 1), box(0, 0, 2, 1))).toBe("Resized: 2 wide, 1 high");
  expect(changeWords(box(0, 0, 1, 1), box(0, 0, 1, 1))).toBe("It cannot go further");
});
