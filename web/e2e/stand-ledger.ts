// What the stand-in says of the ledger of a region: three nodes in a row, of which one catches up.

import type { Hop, Ledger, LedgerNode } from "../src/api";
import type { Node } from "../src/generated/api";
import { aNode } from "../src/node/testing";
import type { Handlers } from "./stand";
import { nodeEvents } from "./stand-nodes";

const hop = (origin: string, acknowledged: number, more: Partial<Hop> = {}): Hop => ({
  ...{ origin, own: false, produced: acknowledged, acknowledged, stored: acknowledged, refused: 0 },
  ...{ missing: 0, repeated: 0, left_out: 0, backlog_blocks: 0, backlog_samples: 0 },
  ...{ balanced: true, ...more },
});

const own = { own: true };

/** How far the plant's samples have come: recorded there, at the campus, here, and lost. */
export interface Way {
  plant: number;
  campus: number;
  here: number;
  lost?: number;
  /** When the plant said so, in milliseconds ago, if it is away. */
  away?: number;
}

function nodesOf({ plant, campus, here, lost = 0, away }: Way): LedgerNode[] {
  const now = Date.now();
  const gone = { missing: lost, stored: here - lost };
  const gap = {
    ...{ origin: "plant~9sd2kq", first: 41, last: 44, samples: lost, reason: "dropped" },
    noticed: new Date(now - 600_000).toISOString(),
  };
  const gaps = lost > 0 ? [gap] : [];
  const node = (name: string, path: string[], prefix: string, origins: Hop[]): LedgerNode => ({
    ...{ node: name, path, prefix, origins, gaps, ledger: "ok", stores: true, reason: "" },
    ...{ state: path.length === 0 ? "here" : "current", as_of: new Date(now).toISOString() },
  });
  const old = {
    ...{ state: "old" as const, reason: "not connected since 10:04" },
    as_of: new Date(now - (away ?? 0)).toISOString(),
  };
  return [
    node("region", [], "", [
      hop("region~7ac01x", 120_400, own),
      hop("campus~4k2m9x", 5_212_300, { repeated: 120 }),
      hop("plant~9sd2kq", here, { repeated: 40, ...gone }),
      hop("plant~9sd2kq!", 812),
    ]),
    node("campus", ["campus"], "campus", [
      hop("campus~4k2m9x", 5_212_300, own),
      hop("plant~9sd2kq", campus, { repeated: 40, ...gone, stored: campus - lost }),
      hop("plant~9sd2kq!", 812),
    ]),
    {
      ...node("plant", ["campus", "plant"], "campus/plant", [
        hop("plant~9sd2kq", plant, own),
        hop("plant~9sd2kq!", 812, own),
      ]),
      ...{ gaps: [] },
      ...(away === undefined ? {} : old),
    },
  ];
}

/** The ledger of the region. */
export function ledgerOf(way: Way): Ledger {
  const nodes = nodesOf(way);
  const { plant, here, lost = 0, away } = way;
  const samples = 120_400 + 5_212_300 + 812 + plant;
  const waiting = plant - here;
  const gone = lost > 0 ? `${lost} samples are missing` : "Nothing was lost";
  return {
    ...{ state: "ok", reason: "", origins: nodes[0]?.origins ?? [], gaps: nodes[0]?.gaps ?? [] },
    log: {
      ...{ bytes: 31_400_000, max_bytes: 1_000_000_000, blocks: 8120 },
      ...{ dropped_blocks: 0, dropped_samples: 0 },
    },
    ...{ damaged: [], nodes },
    sentence:
      `${gone} of ${samples.toLocaleString("en-US")} samples of 3 nodes.` +
      (waiting > 0 ? ` ${waiting.toLocaleString("en-US")} samples are still on the way.` : ""),
    sum: {
      ...{ nodes: 3, old: away === undefined ? 0 : 1, origins: 4, samples, waiting, missing: lost },
      ...{
        stored: samples - waiting - lost,
        left_out: 0,
        refused: 0,
        repeated: 160,
        overwritten: 0,
      },
    },
  };
}

/** A heat map in which the plant was away for a while, and has caught up with half of it. */
export function heatOf(steps: number, from: string, to: string) {
  const row = (path: string, coverage: (number | null)[]) => {
    const present = coverage.reduce<number>((sum, c) => sum + Math.round((c ?? 0) * 720), 0);
    return { path, points: 12, present, expected: 720 * coverage.length, coverage };
  };
  const full = Array.from({ length: steps }, () => 1);
  const cut = full.map((_, i) => (i > steps * 0.6 && i < steps * 0.8 ? 0 : 1));
  return {
    ...{ from, to, next: "" },
    step: (Date.parse(to) - Date.parse(from)) / 1000 / steps,
    rows: [
      row("campus/b1/ahu1", full),
      row("campus/plant/boiler1", cut),
      row("campus/plant/chiller", full),
      row("region/meter", full),
    ],
  };
}

/** The same nodes, of which the campus was away for three minutes, and what waited there. */
function fleetOf({ plant, campus, here, lost = 0 }: Way): Node[] {
  const ago = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
  const coming = plant - here;
  const outage = {
    ...{ from: ago(6), to: ago(3), waited: 40_000, coming, missing: lost, left: 0 },
    ...(coming > 0 ? {} : { done: ago(2) }),
  };
  return [
    aNode("region", { state: "here", path: [] }),
    aNode("campus", { path: ["campus"], prefix: "campus", outages: [outage] }),
    aNode("plant", {
      ...{ path: ["campus", "plant"], parent: "campus", prefix: "campus/plant" },
      waiting: plant - campus,
    }),
  ];
}

/** Answers the ledger of the way as it is now, its heat map, and the nodes. */
export const ledgerHandlers = (way: () => Way): Handlers => ({
  "GET events/nodes": nodeEvents(() => ({ nodes: fleetOf(way()), above: [], refused: [] })),
  "GET children": () => ({ children: [] }),
  "GET ledger": () => ledgerOf(way()),
  "GET completeness": ({ query }) =>
    heatOf(Number(query.get("steps")), query.get("from") ?? "", query.get("to") ?? ""),
});
