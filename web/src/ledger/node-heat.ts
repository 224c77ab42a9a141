// How complete the history is here, by the node that the points come from.

import type { LedgerNode } from "../api";
import { percent } from "../format";
import type { Child } from "../generated/api";
import { isUnder } from "../path";
import type { HeatRow } from "../site/coverage";

/** A node with the place of its points here; "" for anywhere. */
export interface Placed {
  node: string;
  prefix: string;
  /** How far below it is; 0 is the one that answers. */
  depth: number;
  /** Whether it was shut out: what it sent before stays. */
  isOut?: boolean;
}

/** The places of the nodes of the tree, and after them those of nodes that were shut out of it. */
export function placesOf(
  nodes: readonly Pick<LedgerNode, "node" | "prefix" | "path">[],
  joined: readonly Pick<Child, "name" | "prefix" | "state">[],
): Placed[] {
  const inside = nodes.map((n) => ({ node: n.node, prefix: n.prefix, depth: n.path.length }));
  const outside = joined
    .filter((c) => c.state === "revoked" && inside.every((n) => n.node !== c.name))
    .map((c) => ({ node: c.name, prefix: c.prefix, depth: 1, isOut: true }));
  return [...inside, ...outside];
}

/** The node that a path belongs to: of those with a place around it that with the longest, then the deepest. */
export function homeOf(path: string, placed: readonly Placed[]): string {
  const [home] = placed
    .filter((p) => p.depth > 0 && p.prefix !== "" && isUnder(path, p.prefix))
    .sort((a, b) => b.prefix.length - a.prefix.length || b.depth - a.depth);
  return (home ?? placed.find((p) => p.depth === 0))?.node ?? "";
}

/** One row for each node, in the order in which they are given; nodes without points are left out. */
export function rowsByNode(rows: readonly HeatRow[], placed: readonly Placed[]): HeatRow[] {
  const byNode = new Map<string, HeatRow[]>();
  for (const row of rows) {
    const home = homeOf(row.path, placed);
    const list = byNode.get(home) ?? [];
    list.push(row);
    byNode.set(home, list);
  }
  return placed.flatMap(({ node }) => {
    const found = byNode.get(node);
    return found ? [together(node, found)] : [];
  });
}

/** Rows as one: a cell is complete as its rows are together, each with the weight of what it expects. */
function together(node: string, rows: readonly HeatRow[]): HeatRow {
  const cells = Math.max(...rows.map((r) => r.coverage.length));
  const sum = (pick: (r: HeatRow) => number) => rows.reduce((n, r) => n + pick(r), 0);
  const coverage = Array.from({ length: cells }, (_, i) => {
    let share = 0;
    let weight = 0;
    for (const r of rows) {
      const c = r.coverage[i];
      if (c === null || c === undefined) continue;
      share += c * Math.max(1, r.expected);
      weight += Math.max(1, r.expected);
    }
    return weight > 0 ? Math.min(1, share / weight) : null;
  });
  return {
    path: node,
    points: sum((r) => r.points),
    present: sum((r) => r.present),
    expected: sum((r) => r.expected),
    coverage,
  };
}

/** A row without the step in which its points began: before that there was nothing to measure. */
export function begun(row: HeatRow): HeatRow {
  const first = row.coverage.findIndex((c) => c !== null);
  if (first <= 0 || row.coverage[first] === 1) return row;
  return { ...row, coverage: row.coverage.with(first, null) };
}

/** How complete the steps are in which something was expected. */
export function shareOf(coverage: readonly (number | null)[]): string {
  const known = coverage.filter((c) => c !== null);
  if (known.length === 0) return "–";
  return percent(
    known.reduce((sum, c) => sum + c, 0),
    known.length,
  );
}
