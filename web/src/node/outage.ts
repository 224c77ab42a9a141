// The times in which nodes were not connected, and what became of what they recorded meanwhile.

import { clock, count, hourMinute, plain, plural, shortTime, span } from "../format";
import type { Node, Outage } from "../generated/api";
import type { Level } from "../health";

/** An outage of a node, told. */
export interface ToldOutage {
  node: string;
  outage: Outage;
  level: Level;
  text: string;
}

/** The outages of nodes, the newest first. */
export function outagesOf(nodes: readonly Node[], now: number): ToldOutage[] {
  return nodes
    .flatMap((n) => (n.outages ?? []).map((outage) => told(n.name, outage, now)))
    .sort((a, b) => Date.parse(b.outage.from) - Date.parse(a.outage.from));
}

/** An outage in a sentence or three. */
export function told(node: string, o: Outage, now: number): ToldOutage {
  const from = Date.parse(o.from);
  if (!o.to) {
    const since = `${plain(node)} is away${o.at ? ` from ${plain(o.at)}` : ""} since ${timeOf(from, now, now)}, for ${span(now - from)}${unknownOf(o, now)}`;
    const text = `${since}. What it records meanwhile waits on its disk, and comes when it is back.`;
    return { node, outage: o, level: "warn", text };
  }
  const to = Date.parse(o.to);
  const was = `${plain(node)} was away${o.at ? ` from ${plain(o.at)}` : ""} ${timeOf(from, to, now)} – ${timeOf(to, from, now)}${unknownOf(o, now)}`;
  return { node, outage: o, level: levelOf(o), text: `${was}. ${became(o, from, now)}` };
}

/** What nobody knows about the time before an outage, because the node that tells did not run. */
const unknownOf = (o: Outage, now: number) =>
  o.unknown
    ? `; nobody knows about the time from ${timeOf(Date.parse(o.unknown), Date.parse(o.from), now)} until then`
    : "";

function levelOf(o: Outage): Level {
  if (o.missing > 0) return "bad";
  return o.done ? "good" : "wait";
}

/** What became of what waited. */
function became(o: Outage, from: number, now: number): string {
  if (o.waited === 0) return "No reading waited there. Nothing is missing.";
  const waited = `${plural(o.waited, "reading")} waited there`;
  const lost = `${count(o.missing)} ${o.missing === 1 ? "is" : "are"} missing; the gaps in the ledger say why.`;
  if (!o.done) {
    const here = o.waited - o.coming;
    const so = o.missing > 0 ? lost : "Nothing is missing so far.";
    return `${waited}; ${count(here)} of them arrived${o.at ? ` at ${plain(o.at)}` : ""}, ${count(o.coming)} still come. ${so}`;
  }
  const there = o.at ? ` at ${plain(o.at)}` : "";
  const by = timeOf(Date.parse(o.done), from, now);
  const arrived = o.waited - o.missing - o.left;
  const out = o.left > 0 ? `; ${count(o.left)} were left out on purpose` : "";
  if (o.missing > 0)
    return `${waited}; ${count(arrived)} arrived${there}, once, by ${by}${out}. ${lost}`;
  const all = o.left > 0 ? count(arrived) : o.waited === 1 ? "it" : "all";
  return `${waited}; ${all} arrived${there}, once, by ${by}${out}. Nothing is missing.`;
}

const minute = 60_000;
const day = 24 * 60 * minute;

/** A moment as short as it can be told apart from another, and from now. */
function timeOf(at: number, other: number, now: number): string {
  if (Math.abs(now - at) > day / 2) return shortTime(at);
  return Math.abs(at - other) < 10 * minute ? clock(at) : hourMinute(at);
}

/** How a step of a heat map stands to the outages of its node. */
export type Late = "late" | "waits" | undefined;

/** What came late: a step that is complete although the node was away in it, or whose readings still wait there. */
export function lateness(
  coverage: readonly (number | null)[],
  outages: readonly Outage[],
  begin: number,
  stepMs: number,
): Late[] {
  return coverage.map((c, i) => {
    const from = begin + i * stepMs;
    if (c === null) return undefined;
    const around = outages.filter(
      (o) => Date.parse(o.from) < from + stepMs && (o.to === undefined || Date.parse(o.to) > from),
    );
    if (c >= 1) return around.some((o) => o.to && o.waited > 0) ? "late" : undefined;
    return around.some((o) => !o.done) ? "waits" : undefined;
  });
}

/** The outages that hold up what a node sends: those of the node by which it comes. */
export function outagesAround(nodes: readonly Node[], name: string): readonly Outage[] {
  const first = nodes.find((n) => n.name === name)?.path[0];
  return nodes.find((n) => n.path.length === 1 && n.name === first)?.outages ?? [];
}
