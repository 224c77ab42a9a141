// The way of an origin's samples from the node that produced them to this one, with what each node on
// the way counted itself.

import type { Hop, LedgerNode } from "../api";
import type { Level } from "../health";

/** A node on the way, with its own count. */
export interface Stop {
  node: LedgerNode;
  /** Its account of the origin. */
  account: Hop;
  /** Samples that the stop before has on disk, and this one does not; 0 at the first. */
  coming: number;
  /** Whether what the stop before said is older than what this one counts. */
  isBehind: boolean;
}

/** The way of one origin. */
export interface Chain {
  origin: string;
  /** The stops, that which produced it first. Its own word may be missing, see isKnown. */
  stops: Stop[];
  /** Whether the node that produced it said how much it produced. */
  isKnown: boolean;
  /** Samples that the parent has; undefined without one. */
  above: number | undefined;
}

/** Whether an origin is the urgent lane of a node. */
export const isUrgent = (origin: string) => origin.endsWith("!");

/** All ways to the node that answers: those that lost something first, then those on which something comes, then the longest. */
export function chainsOf(nodes: readonly LedgerNode[]): Chain[] {
  const stops = new Map<string, { node: LedgerNode; account: Hop }[]>();
  for (const node of nodes) {
    for (const account of node.origins ?? []) {
      const found = stops.get(account.origin) ?? [];
      found.push({ node, account });
      stops.set(account.origin, found);
    }
  }
  return [...stops]
    .map(([origin, found]) => chainOf(origin, found))
    .sort(
      (a, b) =>
        lostOf(b) - lostOf(a) ||
        Number(comingOf(b) > 0) - Number(comingOf(a) > 0) ||
        b.stops.length - a.stops.length ||
        (a.origin < b.origin ? -1 : 1),
    );
}

function chainOf(origin: string, found: { node: LedgerNode; account: Hop }[]): Chain {
  const way = found.sort((a, b) => b.node.path.length - a.node.path.length);
  const stops = way.map(({ node, account }, i) => {
    const before = way[i - 1]?.account.acknowledged ?? account.acknowledged;
    return {
      node,
      account,
      coming: Math.max(0, before - account.acknowledged),
      isBehind: before < account.acknowledged,
    };
  });
  const top = way.find(({ node }) => node.path.length === 0);
  return {
    origin,
    stops,
    isKnown: way[0]?.account.own === true,
    above: top?.account.above,
  };
}

/** Samples of a chain that are on their way to this node, or into its history. */
export const comingOf = (c: Chain) =>
  c.stops.reduce((sum, s) => sum + s.coming, 0) + (c.stops.at(-1)?.account.backlog_samples ?? 0);

/** What was lost on the way, as the last stop counts it: a loss is told on. */
export const lostOf = (c: Chain) => Math.max(0, ...c.stops.map((s) => s.account.missing));

/** The verdict about a way, and why one can believe it. */
export interface Verdict {
  level: Level;
  mark: string;
  text: string;
}

/** Judges a way by the counts of its stops. */
export function verdictOf(c: Chain): Verdict {
  const lost = lostOf(c);
  if (lost > 0) return { level: "bad", mark: "✗", text: "samples are lost; the gaps say why" };
  if (c.stops.some((s) => !s.account.balanced)) {
    return { level: "warn", mark: "…", text: "a figure is still on its way" };
  }
  if (!c.isKnown) {
    return { level: "wait", mark: "?", text: "the node that produced it has not said its count" };
  }
  const old = c.stops.find((s) => s.node.state === "old");
  if (old) return { level: "wait", mark: "✓", text: "nothing lost, by what was said last" };
  if (comingOf(c) > 0)
    return { level: "good", mark: "✓", text: "nothing lost, the rest is coming" };
  return { level: "good", mark: "✓", text: "every count agrees: nothing lost" };
}

/** How fast something shrinks. */
export interface Course {
  /** Samples a second; 0 if it does not shrink. */
  rate: number;
  /** Seconds until nothing is left at that rate; undefined if it does not shrink. */
  left: number | undefined;
}

/** What was waiting at a time in milliseconds. */
export interface Mark {
  at: number;
  waiting: number;
  /** Samples that are here. */
  here: number;
}

/** The course of catching up between two marks; undefined if the time between them says nothing. */
export function courseOf(before: Mark | undefined, now: Mark): Course | undefined {
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  if (!before || seconds < 0.5) return undefined;
  const rate = Math.max(0, (now.here - before.here) / seconds);
  const shrinks = (before.waiting - now.waiting) / seconds;
  return { rate, left: shrinks > 0 ? now.waiting / shrinks : undefined };
}
