import { describe, expect, test } from "vitest";
import { tokenIn } from "./token";
import { formatView, mostPoints, pan, parseView, toggle, type View, zoom } from "./view";

const HOUR = 3_600_000;
const now = Date.parse("2026-03-29T12:00:00Z");

describe("a link", () => {
  test.each<[string, View]>([
    ["a live view", { branch: "a/b", points: ["a/b/x", "c"], range: { last: 24 * HOUR } }],
    ["a view of the past", { branch: "", points: [], range: { from: now - HOUR, to: now } }],
    [
      "strange names",
      {
        branch: "a&b=c#d%",
        points: ['"><script>', "two  spaces/+", "温度"],
        range: { last: HOUR },
      },
    ],
  ])("reproduces %s", (_, view) => {
    expect(parseView(formatView(view))).toEqual(view);
  });

  test("that says nothing leaves the choice to the page", () => {
    expect(parseView("")).toBeUndefined();
    expect(parseView("?range=1h")).toBeUndefined();
  });

  test.each([
    ["an unknown range", "?branch=&range=forever"],
    ["an end before the begin", "?branch=&from=2026-01-02T00:00:00Z&to=2026-01-01T00:00:00Z"],
    ["no dates", "?branch=&from=yesterday&to=now"],
    ["a million years", "?branch=&from=-100000-01-01T00:00:00Z&to=2026-01-01T00:00:00Z"],
  ])("with %s shows the last quarter of an hour", (_, query) => {
    expect(parseView(query)?.range).toEqual({ last: HOUR / 4 });
  });

  test("holds no more points than there are colours, each once", () => {
    const query = new URLSearchParams([
      ["point", "p0"],
      ...Array.from({ length: 20 }, (_, i) => ["point", `p${i}`]),
    ]);
    const points = parseView(`?${query}`)?.points ?? [];
    expect(points).toHaveLength(mostPoints);
    expect(new Set(points).size).toBe(mostPoints);
  });
});

describe("the range", () => {
  test("zooms live ranges from one to the next and stays live", () => {
    expect(zoom({ last: HOUR }, -1)).toEqual({ last: HOUR / 4 });
    expect(zoom({ last: HOUR }, 1)).toEqual({ last: 24 * HOUR });
    expect(zoom({ last: HOUR / 4 }, -1)).toEqual({ last: HOUR / 4 });
    expect(zoom({ last: 720 * HOUR }, 1)).toEqual({ last: 720 * HOUR });
  });

  test("zooms the past around its middle", () => {
    const range = { from: now - 2 * HOUR, to: now - HOUR };
    expect(zoom(zoom(range, -1), 1)).toEqual(range);
    expect(zoom(range, -1)).toEqual({ from: now - 1.75 * HOUR, to: now - 1.25 * HOUR });
  });

  test("goes half a width back, and forward until it is live again", () => {
    const back = pan({ last: HOUR }, -1, now);
    expect(back).toEqual({ from: now - 1.5 * HOUR, to: now - 0.5 * HOUR });
    expect(pan(back, 1, now)).toEqual({ last: HOUR });
    expect(pan({ last: HOUR }, 1, now)).toEqual({ last: HOUR });
  });
});

describe("choosing points", () => {
  test("adds, takes away, and lets the oldest go when there are too many", () => {
    expect(toggle(["a"], "b")).toEqual(["a", "b"]);
    expect(toggle(["a", "b"], "a")).toEqual(["b"]);
    const full = Array.from({ length: mostPoints }, (_, i) => `p${i}`);
    expect(toggle(full, "new")).toEqual([...full.slice(1), "new"]);
  });
});

describe("the token of a fragment", () => {
  test.each([
    ["#token=abc", "abc"],
    ["#token=a%2Bb%26c", "a+b&c"],
    ["#other=1", ""],
    ["", ""],
  ])("%j is %j", (fragment, want) => {
    expect(tokenIn(fragment)).toBe(want);
  });
});
