import { describe, expect, test } from "vitest";
import type { Hop, LedgerNode } from "../api";
import { chainsOf, comingOf, courseOf, lostOf, verdictOf } from "./chain";

const hop = (origin: string, acknowledged: number, more: Partial<Hop> = {}): Hop => ({
  ...{ origin, own: false, produced: acknowledged, acknowledged, stored: acknowledged, refused: 0 },
  ...{ missing: 0, repeated: 0, left_out: 0, backlog_blocks: 0, backlog_samples: 0 },
  ...{ balanced: true, ...more },
});

const node = (
  name: string,
  path: string[],
  origins: Hop[],
  state: LedgerNode["state"] = "current",
): LedgerNode => ({
  ...{ node: name, path, state, reason: "", ledger: "ok", stores: true, prefix: "" },
  ...{ origins, gaps: [] },
});

const own = { own: true };
const chainOf = (...nodes: LedgerNode[]) => {
  const found = chainsOf(nodes).find((c) => c.origin === "plant~a");
  if (!found) throw new Error("no chain of plant~a");
  return found;
};

describe("the way of an origin", () => {
  test("begins where it was produced and ends here", () => {
    const chain = chainOf(
      node("region", [], [hop("region~r", 9, own), hop("plant~a", 80, { above: 70 })], "here"),
      node("campus", ["campus"], [hop("plant~a", 95)]),
      node("plant", ["campus", "plant"], [hop("plant~a", 100, own)]),
    );
    expect(chain.stops.map((s) => [s.node.node, s.account.acknowledged, s.coming])).toEqual([
      ["plant", 100, 0],
      ["campus", 95, 5],
      ["region", 80, 15],
    ]);
    expect(chain.isKnown).toBe(true);
    expect(chain.above).toBe(70);
  });

  test("stands above others if it lost something, then if something comes, then if it is long", () => {
    const origins = (n: number) => [
      hop("calm", 5),
      hop("coming", n),
      hop("lost", 5, { missing: 1, stored: 4 }),
    ];
    const chains = chainsOf([
      node("region", [], [hop("region~r", 9, own), ...origins(4)], "here"),
      node("campus", ["campus"], origins(5)),
    ]);
    expect(chains.map((c) => c.origin)).toEqual(["lost", "coming", "calm", "region~r"]);
  });

  test("adds up: what was produced is here or coming", () => {
    const chain = chainOf(
      node("campus", [], [hop("plant~a", 80, { stored: 75, backlog_samples: 5 })], "here"),
      node("plant", ["plant"], [hop("plant~a", 100, own)]),
    );
    expect(comingOf(chain)).toBe(25);
    expect(verdictOf(chain)).toMatchObject({
      level: "good",
      text: expect.stringMatching(/coming/),
    });
  });

  test("never has less than nothing coming where the child was asked before", () => {
    const chain = chainOf(
      node("campus", [], [hop("plant~a", 120)], "here"),
      node("plant", ["plant"], [hop("plant~a", 100, own)]),
    );
    expect(chain.stops[1]).toMatchObject({ coming: 0, isBehind: true });
  });

  test.each([
    ["all is here", {}, {}, "current", "good", "every count agrees"],
    ["something was lost", { missing: 3, stored: 97 }, {}, "current", "bad", "lost"],
    ["a figure is under way", { balanced: false }, {}, "current", "warn", "on its way"],
    ["the child is away", {}, {}, "old", "wait", "said last"],
    ["the child never spoke", {}, { own: false }, "current", "wait", "has not said"],
  ] as const)("is judged when %s", (_, here, there, state, level, words) => {
    const chain = chainOf(
      node("campus", [], [hop("plant~a", 100, here)], "here"),
      node("plant", ["plant"], [hop("plant~a", 100, { ...own, ...there })], state),
    );
    const verdict = verdictOf(chain);
    expect(verdict.level).toBe(level);
    expect(verdict.text).toContain(words);
  });

  test("counts a loss once, however many nodes tell it", () => {
    const lost = { missing: 4, stored: 96 };
    const chain = chainOf(
      node("region", [], [hop("plant~a", 100, lost)], "here"),
      node("campus", ["campus"], [hop("plant~a", 100, lost)]),
    );
    expect(lostOf(chain)).toBe(4);
  });
});

describe("catching up", () => {
  test("is told as a rate and the time that is left", () => {
    const course = courseOf(
      { at: 0, waiting: 900, here: 100 },
      { at: 2000, waiting: 500, here: 600 },
    );
    expect(course).toEqual({ rate: 250, left: 2.5 });
  });

  test("has no end where what waits does not shrink, or nothing was seen before", () => {
    expect(courseOf({ at: 0, waiting: 5, here: 1 }, { at: 1000, waiting: 9, here: 1 })).toEqual({
      rate: 0,
      left: undefined,
    });
    expect(courseOf(undefined, { at: 0, waiting: 5, here: 1 })).toBeUndefined();
  });
});
