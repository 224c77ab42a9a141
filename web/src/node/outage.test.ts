import { describe, expect, test } from "vitest";
import type { Outage } from "../generated/api";
import { lateness, outagesAround, outagesOf, told } from "./outage";
import { aNode } from "./testing";

const at = (hour: number, minute: number, second = 0) =>
  new Date(2026, 2, 9, hour, minute, second).toISOString();
const now = Date.parse(at(9, 30));
const outage = (more: Partial<Outage> = {}): Outage => ({
  ...{ from: at(9, 2), to: at(9, 19), waited: 12_340, coming: 0, missing: 0, left: 0 },
  ...{ done: at(9, 20), ...more },
});
const { done: _, ...onItsWay } = outage({ coming: 340 });
const { to: __, ...lasting } = { ...onItsWay, waited: 0, coming: 0 };

describe("an outage in words", () => {
  test.each<[string, Outage, string, string]>([
    [
      "says that all is there",
      outage(),
      "good",
      "North was away 09:02 – 09:19. 12,340 readings waited there; all arrived, once, by 09:20. Nothing is missing.",
    ],
    [
      "says what still comes",
      onItsWay,
      "wait",
      "North was away 09:02 – 09:19. 12,340 readings waited there; 12,000 of them arrived, 340 still come. Nothing is missing so far.",
    ],
    [
      "says what is lost",
      outage({ missing: 40 }),
      "bad",
      "North was away 09:02 – 09:19. 12,340 readings waited there; 12,300 arrived, once, by 09:20. 40 are missing; the gaps in the ledger say why.",
    ],
    [
      "says what was left out",
      outage({ left: 40 }),
      "good",
      "North was away 09:02 – 09:19. 12,340 readings waited there; 12,300 arrived, once, by 09:20; 40 were left out on purpose. Nothing is missing.",
    ],
    [
      "says what nobody saw",
      outage({ unknown: at(8, 40) }),
      "good",
      "North was away 09:02 – 09:19; nobody knows about the time from 08:40 until then. 12,340 readings waited there; all arrived, once, by 09:20. Nothing is missing.",
    ],
    [
      "says at which hop",
      outage({ at: "campus" }),
      "good",
      "North was away from campus 09:02 – 09:19. 12,340 readings waited there; all arrived at campus, once, by 09:20. Nothing is missing.",
    ],
    [
      "says seconds of a short one",
      outage({ from: at(9, 18, 40), waited: 1, done: at(9, 19, 1) }),
      "good",
      "North was away 09:18:40 – 09:19:00. 1 reading waited there; it arrived, once, by 09:19:01. Nothing is missing.",
    ],
    [
      "says the day of an old one",
      outage({ from: new Date(2026, 2, 7, 22, 0).toISOString(), waited: 0 }),
      "good",
      "North was away 7 Mar 22:00 – 09:19. No reading waited there. Nothing is missing.",
    ],
    [
      "says that it lasts",
      lasting,
      "warn",
      "North is away since 09:02, for 28 min. What it records meanwhile waits on its disk, and comes when it is back.",
    ],
  ])("%s", (_, o, level, text) => {
    expect(told("North", o, now)).toMatchObject({ level, text });
  });

  test("tells those of all nodes, the newest first", () => {
    const nodes = [
      aNode("north", { outages: [outage(), outage({ from: at(7, 0) })] }),
      aNode("south", { outages: [outage({ from: at(8, 0) })] }),
    ];
    expect(outagesOf(nodes, now).map((t) => [t.node, t.outage.from])).toEqual([
      ["north", at(9, 2)],
      ["south", at(8, 0)],
      ["north", at(7, 0)],
    ]);
  });
});

describe("what came late", () => {
  const begin = Date.parse(at(9, 0));
  const five = 5 * 60_000;
  const full = [1, 1, 1, 1, 1, 1];
  test.each<[string, (number | null)[], Outage[], (string | undefined)[]]>([
    ["is nothing without an outage", full, [], full.map(() => undefined)],
    [
      "is what is complete in an outage",
      full,
      [outage({ from: at(9, 6) })],
      [undefined, "late", "late", "late", undefined, undefined],
    ],
    [
      "is not what is missing for good",
      [1, 1, 0, null, 1, 1],
      [outage({ from: at(9, 6), missing: 7 })],
      [undefined, "late", undefined, undefined, undefined, undefined],
    ],
    [
      "waits while the node is away",
      [1, 1, 1, 0.4, 0, 0],
      [{ ...lasting, from: at(9, 16) }],
      [undefined, undefined, undefined, "waits", "waits", "waits"],
    ],
    [
      "waits until the last has come",
      [1, 0.9, 1, 0, 1, 1],
      [{ ...onItsWay, from: at(9, 6) }],
      [undefined, "waits", "late", "waits", undefined, undefined],
    ],
  ])("%s", (_, coverage, outages, wanted) => {
    expect(lateness(coverage, outages, begin, five)).toEqual(wanted);
  });

  test("is judged by the node by which it comes", () => {
    const nodes = [
      aNode("here"),
      aNode("north", { path: ["north"], outages: [outage()] }),
      aNode("cellar", { path: ["north", "cellar"] }),
    ];
    expect(outagesAround(nodes, "cellar")).toHaveLength(1);
    expect(outagesAround(nodes, "here")).toHaveLength(0);
  });
});
