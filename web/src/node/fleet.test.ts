import { describe, expect, test } from "vitest";
import {
  choiceAddress,
  choiceIn,
  chosen,
  directionOf,
  fleetSentence,
  nodeStanding,
  offsetWords,
  treeOf,
  waitsFor,
} from "./fleet";
import { aNode as node } from "./testing";

const now = Date.parse("2026-11-20T10:00:00Z");
const ago = (minutes: number) => new Date(now - minutes * 60_000).toISOString();

describe("a node", () => {
  test.each([
    ["is away", { state: "away", since: ago(125) }, "bad", "away for 2 h 5 min"],
    [
      "has data that is not taken",
      { received: { reason: "outside" } },
      "bad",
      "its data is not taken",
    ],
    ["has failing devices", { devices_failing: 2 }, "warn", "2 devices failing"],
    ["has a full disk", { disk: 5, disk_size: 100 }, "warn", "disk nearly full"],
    ["says nothing of its disk", { disk: 0, disk_size: 0 }, "good", "connected"],
    ["is the one that answers", { state: "here" }, "good", "here"],
    ["is in a state of a newer version", { state: "asleep" }, "wait", "asleep"],
  ])("that %s is told so", (_, part, level, words) => {
    expect(nodeStanding(node("a", part as never), now)).toEqual({ level, words });
  });

  test("is waited for by its own clock, which may be wrong by hours", () => {
    const behind = { waiting: 5, waiting_since: ago(130), offset_ms: -2 * 3_600_000 };
    expect(waitsFor(node("a", behind), now)).toBe(10 * 60_000);
    expect(waitsFor(node("a", { ...behind, waiting: 0 }), now)).toBe(0);
  });

  test("is waited for as long as it said, and goes on waiting only if it is away", () => {
    const part = { waiting: 5, waiting_since: ago(10), heard: ago(4) };
    expect(waitsFor(node("a", part), now)).toBe(6 * 60_000);
    expect(waitsFor(node("a", { ...part, state: "away" }), now)).toBe(10 * 60_000);
  });

  test.each([
    [12.4, "12 ms"],
    [-3_600_000, "1 h behind"],
    [90_000, "1 min ahead"],
  ])("whose clock is off by %d ms is said to be %s", (ms, words) => {
    expect(offsetWords(ms)).toBe(words);
  });
});

describe("the list", () => {
  test.each([
    ["name", "ascending"],
    ["disk", "ascending"],
    ["waiting", "descending"],
    ["rtt", "descending"],
  ] as const)("says which way %s sorts as it does", (sort, direction) => {
    const small = node("a", { path: ["a"], waiting: 1, rtt_ms: 1, disk: 1, disk_size: 9 });
    const great = node("b", { path: ["b"], waiting: 2, rtt_ms: 2, disk: 2, disk_size: 9 });
    const choice = { sort, words: "", onlyTroubled: false, asMap: false };
    const order = chosen([small, great], choice, now).map((n) => n.name);
    expect(order).toEqual(direction === "ascending" ? ["a", "b"] : ["b", "a"]);
    expect(directionOf(sort)).toBe(direction);
  });

  const nodes = [
    node("region", { state: "here" }),
    node("campus", { path: ["campus"], rtt_ms: 4, version: "0.9.1", roles: ["concentrator"] }),
    node("plant", { path: ["campus", "plant"], state: "away", waiting: 900 }),
  ];
  const all = choiceIn("");
  const names = (search: string) => chosen(nodes, choiceIn(search), now).map((n) => n.name);

  test("keeps the order of the tree, or puts the worst first", () => {
    expect(names("")).toEqual(["region", "campus", "plant"]);
    expect(names("?sort=state")).toEqual(["plant", "campus", "region"]);
    expect(names("?sort=waiting")).toEqual(["plant", "campus", "region"]);
    expect(names("?sort=rtt")).toEqual(["campus", "plant", "region"]);
    expect(names("?sort=constructor")).toEqual(["region", "campus", "plant"]);
  });

  test("filters by words, and by who needs somebody", () => {
    expect(names("?q=0.9.1+concen")).toEqual(["campus"]);
    expect(names("?q=away")).toEqual(["plant"]);
    expect(names("?only=troubled")).toEqual(["plant"]);
  });

  test("has an address for each choice", () => {
    const choice = { sort: "disk", words: "a b", onlyTroubled: true, asMap: true } as const;
    expect(choiceIn(choiceAddress(choice).slice("/nodes".length))).toEqual(choice);
    expect(choiceAddress(all)).toBe("/nodes");
  });

  test("hangs nodes under each other, by their way and not by their name", () => {
    const twice = [
      ...nodes,
      node("plant", { path: ["plant"] }),
      node("lost", { path: ["x", "lost"] }),
    ];
    const [region, lost] = treeOf(twice);
    expect(region?.below.map((b) => [b.node.name, b.below.length])).toEqual([
      ["campus", 1],
      ["plant", 0],
    ]);
    expect(lost?.node.name).toBe("lost");
  });

  test("is one sentence", () => {
    expect(fleetSentence(nodes, now).words).toBe("1 of 3 nodes is away: plant");
    expect(fleetSentence(nodes.slice(0, 2), now).words).toBe("Both nodes are well");
  });
});
