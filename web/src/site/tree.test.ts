import { describe, expect, test } from "vitest";
import type { Point } from "../api";
import {
  buildTree,
  countTrouble,
  findBranch,
  isStale,
  listedBelow,
  matches,
  pointsBelow,
  type Reading,
  shownPoints,
  visibleRows,
} from "./tree";

const point = (path: string, more: Partial<Point> = {}): Point => ({
  path,
  kind: "float",
  unit: "",
  description: "",
  writable: false,
  device: "",
  interval: 1,
  tags: null,
  ...more,
});

const site = buildTree(
  ["a/d10/x", "a/d2/x", "a/d2/y", "b", "__proto__/toString/x"].map((p) => point(p)),
);

describe("the tree", () => {
  test("has a branch for each segment above a point, sorted as people count", () => {
    const rows = visibleRows(site, () => true).map((r) => [
      r.branch.path,
      r.branch.level,
      r.branch.total,
    ]);
    expect(rows).toEqual([
      ["__proto__", 1, 1],
      ["__proto__/toString", 2, 1],
      ["a", 1, 3],
      ["a/d2", 2, 2],
      ["a/d10", 2, 1],
    ]);
    expect(site.total).toBe(5);
  });

  test("shows nothing below a folded branch, and tells places among siblings", () => {
    const rows = visibleRows(site, (b) => b.path !== "a");
    expect(rows.map((r) => r.branch.path)).toEqual(["__proto__", "__proto__/toString", "a"]);
    expect(rows.at(-1)).toMatchObject({ open: false, position: 2, siblings: 2 });
  });

  test("finds a branch by its path, and nothing for a path that has none", () => {
    expect(findBranch(site, "a/d2")?.name).toBe("d2");
    expect(findBranch(site, "")).toBe(site);
    expect(findBranch(site, "a/d3")).toBeUndefined();
  });

  test("lists the points of a branch at any depth", () => {
    const a = findBranch(site, "a");
    expect(a && pointsBelow(a).map((p) => p.path)).toEqual(["a/d2/x", "a/d2/y", "a/d10/x"]);
  });
});

describe("a search", () => {
  const p = point("hq/zone 3/co2", {
    description: "Air quality",
    unit: "ppm",
    tags: { equip: "vav" },
  });
  test.each([
    ["zone CO2", true],
    ["vav ppm quality", true],
    ["zone 4", false],
    ["", true],
  ])("for %j: %j", (words, want) => {
    expect(matches(p, words)).toBe(want);
  });
});

describe("trouble", () => {
  test("is counted at each branch above it", () => {
    const readings: Record<string, Reading> = {
      "a/d2/x": { time: 99_000, quality: "bad(timeout)" },
      "a/d2/y": { time: 90_000, quality: "good" },
      "a/d10/x": { time: 99_000, quality: "good" },
    };
    const found = countTrouble(
      site,
      (path) => readings[path],
      () => 100_000,
    );
    expect(Object.fromEntries(found)).toEqual({
      "": { bad: 1, stale: 1 },
      a: { bad: 1, stale: 1 },
      "a/d2": { bad: 1, stale: 1 },
    });
  });

  test("is not that nobody asked since", () => {
    const seen = () => ({ time: 50_000, quality: "good" });
    const knownUntil = (path: string) => (path.startsWith("a/") ? 51_000 : 100_000);
    expect(countTrouble(site, seen, knownUntil).get("a")).toBeUndefined();
    expect(countTrouble(site, seen, knownUntil).get("")).toEqual({ bad: 0, stale: 2 });
  });

  test.each([
    [5999, 1000, false],
    [6001, 1000, true],
    [29_000, 10_000, false],
    [31_000, 10_000, true],
    [1e12, 0, false],
  ])("of age %d with interval %d is stale: %j", (ageMs, intervalMs, want) => {
    expect(isStale(ageMs, intervalMs)).toBe(want);
  });
});

test("what a node records of commands is shown only to those who ask for it", () => {
  const commanded = (path: string, source: string): Point => ({
    ...{ path, kind: "float", unit: "", description: "", writable: false, device: "", interval: 0 },
    tags: { source, of: "site/zone/setpoint" },
  });
  const points = [commanded("control/site/zone/setpoint", "control"), commanded("site/x", "http")];
  expect(shownPoints(points, "").map((p) => p.path)).toEqual(["site/x"]);
  expect(shownPoints(points, "b1/control/site")).toEqual(points);
  expect(shownPoints(points, "controls").length).toBe(1);
});

describe("the table of a search", () => {
  const root = buildTree(
    ["campus/b1/ahu1/co2", "campus/b1/zone/co2", "campus/b2/co2"].map((p) => point(p)),
  );
  const paths = (branch: string) => listedBelow(root, branch, "co2").points.map((p) => p.path);

  test("lists what is below the branch, and tells of the rest", () => {
    expect(paths("campus/b1")).toEqual(["campus/b1/ahu1/co2", "campus/b1/zone/co2"]);
    expect(listedBelow(root, "campus/b1", "co2").note).toBe("1 more in other branches");
    expect(listedBelow(root, "campus/b1", "").note).toBe("");
  });

  test("lists what the tree beside it shows when the branch has none", () => {
    expect(paths("campus/b3").length).toBe(3);
    expect(listedBelow(root, "campus/b3", "co2")).toMatchObject({
      branch: "",
      note: "Nothing below campus/b3; these are elsewhere.",
    });
    expect(listedBelow(root, "campus/b3", "").points).toEqual([]);
    expect(listedBelow(buildTree([]), "campus/b3", "x").points).toEqual([]);
  });
});
