import { expect, test } from "vitest";
import type { LedgerNode } from "../api";
import { gapsOf } from "./gaps";

const gap = (first: number, noticed: string) => ({
  ...{ origin: "plant~a", first, last: first + 1, samples: 20, reason: "dropped", noticed },
});
const node = (name: string, gaps: LedgerNode["gaps"] | null) =>
  ({ node: name, gaps }) as LedgerNode;

test("a gap that several nodes tell of stands there once, with all of them", () => {
  const old = gap(3, "2026-11-20T10:00:00Z");
  const found = gapsOf([
    node("region", [old]),
    node("campus", [gap(9, "2026-11-20T11:00:00Z"), old]),
    node("silent", null),
  ]);
  expect(found.map((g) => [g.first, g.nodes])).toEqual([
    [9, ["campus"]],
    [3, ["region", "campus"]],
  ]);
});
