import { describe, expect, test } from "vitest";
import type { HeatRow } from "../site/coverage";
import { begun, homeOf, placesOf, rowsByNode, shareOf } from "./node-heat";

const placed = [
  { node: "region", prefix: "", depth: 0 },
  { node: "campus", prefix: "campus", depth: 1 },
  { node: "plant", prefix: "campus/b1", depth: 2 },
  { node: "anywhere", prefix: "", depth: 1 },
];

const row = (path: string, expected: number, coverage: (number | null)[]): HeatRow => ({
  ...{ path, points: 1, present: expected, expected, coverage },
});

describe("completeness by node", () => {
  test.each([
    ["campus/b1/boiler", "plant"],
    ["campus/b12/boiler", "campus"],
    ["office/meter", "region"],
  ])("puts %s to %s", (path, node) => {
    expect(homeOf(path, placed)).toBe(node);
  });

  test("takes the deepest of nodes with one place", () => {
    const same = [...placed, { node: "below", prefix: "campus/b1", depth: 3 }];
    expect(homeOf("campus/b1/boiler", same)).toBe("below");
  });

  test("keeps the points of a node that was shut out apart from those of this node", () => {
    const tree = [
      { node: "region", prefix: "", path: [] },
      { node: "campus", prefix: "campus", path: ["campus"] },
    ];
    const joined = [
      { name: "campus", prefix: "campus", state: "approved" },
      { name: "shed", prefix: "campus/shed", state: "revoked" },
      { name: "annex", prefix: "annex", state: "pending" },
    ] as const;
    const places = placesOf(tree, joined);
    expect(homeOf("campus/shed/fan", places)).toBe("shed");
    expect(homeOf("campus/fan", places)).toBe("campus");
    expect(homeOf("annex/fan", places)).toBe("region");
    expect(places.map((p) => p.isOut === true)).toEqual([false, false, true]);
  });

  test("weighs devices by what they should have brought", () => {
    const rows = rowsByNode(
      [
        row("campus/b1/fast", 300, [1, 0.5, null]),
        row("campus/b1/slow", 100, [0, 1, null]),
        row("office/meter", 10, [1, 1, 1]),
      ],
      placed,
    );
    expect(rows.map((r) => [r.path, r.expected, r.coverage])).toEqual([
      ["region", 10, [1, 1, 1]],
      ["plant", 400, [0.75, 0.625, null]],
    ]);
  });

  test.each<[string, (number | null)[], (number | null)[], string]>([
    ["leaves out the step in which it began", [null, 0.4, 1], [null, null, 1], "100 %"],
    ["keeps a hole at the edge of the map", [0.5, 1, 1], [0.5, 1, 1], "83.3 %"],
    ["keeps a hole later", [null, 1, 0], [null, 1, 0], "50.0 %"],
    ["has no share of nothing", [null, null], [null, null], "–"],
  ])("%s", (_, coverage, wanted, share) => {
    const made = begun(row("campus", 1, coverage)).coverage;
    expect(made).toEqual(wanted);
    expect(shareOf(made)).toBe(share);
  });
});
