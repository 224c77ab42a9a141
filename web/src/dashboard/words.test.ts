import { expect, test } from "vitest";
import type { Point } from "../api";
import type { DashboardTile } from "../generated/api";
import { branchesFor, gathered, pointsOf, type Reading } from "./board-values";
import { doubtWords, labelsOf, levelOf, markOf, shareOf, titleOf, valueWords } from "./words";

const reading = (path: string, description = "", more: Partial<Reading> = {}): Reading => ({
  path,
  point: { path, description, unit: "degC", kind: "float", interval: 1 } as Point,
  last: { time: 0, value: 21.5, quality: "good" },
  known: undefined,
  missing: false,
  stale: false,
  ...more,
});
const tile = (more: Partial<DashboardTile>): DashboardTile => ({
  ...{ kind: "value", x: 0, y: 0, w: 1, h: 1 },
  ...more,
});

test("points are called by descriptions, and by their places where these are the same", () => {
  const rooms = [reading("b/zone1/temp", "Room"), reading("b/zone2/temp", "Room")];
  expect(labelsOf(rooms)).toEqual(["zone1", "zone2"]);
  expect(labelsOf([...rooms, reading("b/x/out", "Outdoor")])).toEqual([
    ...["Room, zone1", "Room, zone2", "Outdoor"],
  ]);
  expect(labelsOf([reading("s/a/ahu/t", "T"), reading("s/b/ahu/t", "T")])).toEqual([
    "a/ahu",
    "b/ahu",
  ]);
  expect(labelsOf([reading("b/x/speed")])).toEqual(["speed"]);
});

test("what is missing or doubtful is said", () => {
  const missing = reading("b/none", "", { point: undefined, last: undefined, missing: true });
  expect([valueWords(missing), doubtWords(missing), levelOf(missing)]).toEqual([
    ...["no such point", "The node has no point of this name", "bad"],
  ]);
  const hot = reading("b/t");
  expect(doubtWords(hot, { high: 20 })).toBe("Above 20");
  expect(levelOf(hot, { low: 22 })).toBe("warn");
  expect(levelOf(hot)).toBe("good");
  const bad = reading("b/t", "", { last: { time: 0, value: 1, quality: "bad(timeout)" } });
  expect([doubtWords(bad), levelOf(bad)]).toEqual(["no answer in time", "bad"]);
  expect(doubtWords(reading("b/t", "", { stale: true }))).toBe("Stale");
});

test("a scale has an end at both sides", () => {
  expect(shareOf(reading("a"), { min: 20, max: 23 })).toBe(0.5);
  expect(shareOf(reading("a"), { max: 10 })).toBe(1);
  expect(shareOf(reading("a"), { min: 5, max: 5 })).toBeUndefined();
});

test("a tile is called as somebody wrote it, or as its point is", () => {
  expect(titleOf(tile({ title: "Hall" }), [reading("a", "Room")])).toBe("Hall");
  expect(titleOf(tile({}), [reading("a", "Room")])).toBe("Room");
  expect(titleOf(tile({ kind: "alarms" }), [])).toBe("Alarms");
});

test("points are asked for by their branches, or all at once if these are many", () => {
  const tiles = [
    tile({ points: ["b/x", "b/y", "top"] }),
    tile({ bindings: [{ element: "e", point: "b/x" }] }),
  ];
  expect(pointsOf(tiles)).toEqual(["b/x", "b/y", "top"]);
  expect(branchesFor(pointsOf(tiles))).toEqual(["b", "top"]);
  expect(branchesFor(Array.from({ length: 40 }, (_, i) => `b${i}/t`))).toEqual([""]);
  const deep = Array.from({ length: 40 }, (_, i) => `b/c${i % 4}/d${i}/t`);
  expect(gathered(deep, 32)).toEqual(["b/c0", "b/c1", "b/c2", "b/c3"]);
});

test("a point whose device is silent has its last value, marked and dated", () => {
  const last = { time: 60_000, value: null, quality: "bad(unreachable)" };
  const silent = reading("b/t", "", { last, known: { time: 30_000, value: 80 } });
  expect(valueWords(silent)).toBe("80 °C");
  expect(doubtWords(silent, { high: 20 })).toMatch(/^offline, last known 1970-01-01 .*:30$/);
  expect(markOf(silent)).toBe("is-bad is-old");
  expect(shareOf(silent, {})).toBe(0.8);
  const forgotten = reading("b/t", "", { last });
  expect([valueWords(forgotten), markOf(forgotten)]).toEqual(["– °C", "is-bad"]);
  expect(shareOf(forgotten, {})).toBeUndefined();
});
