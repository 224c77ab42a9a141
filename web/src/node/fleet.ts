import { coded, word } from "../language/codes";
// What is known of the nodes of the tree, in words, and in the order that somebody wants.

import { count, plain, plural, span } from "../format";
import type { Node } from "../generated/api";
import type { Standing } from "./words";

/** The worst first. */
const ranks = ["bad", "warn", "wait", "good"] as const;

/** How a node stands: what needs somebody first. now is in milliseconds. */
export function nodeStanding(n: Node, now: number): Standing {
  if (n.state === "away") {
    const since = n.since ? ` for ${span(Math.max(0, now - Date.parse(n.since)))}` : "";
    return { level: "bad", words: `away${since}` };
  }
  if (n.received?.reason) return { level: "bad", words: "its data is not taken" };
  if (n.link === "refused" || n.link === "revoked")
    return { level: "bad", words: "shut out above" };
  const troubles = troublesOf(n);
  if (troubles.length > 0) return { level: "warn", words: troubles.join(", ") };
  if (n.state === "here") return { level: "good", words: "here" };
  if (n.state === "connected") return { level: "good", words: "connected" };
  return { level: "wait", words: plain(String(n.state)) };
}

/** What is not as it should be at a node that answers. */
export function troublesOf(n: Node): string[] {
  return [
    ...(n.devices_failing > 0 ? [`${plural(n.devices_failing, "device")} failing`] : []),
    ...(n.agents_failing > 0 ? [`${plural(n.agents_failing, "agent")} failing`] : []),
    ...(isFull(n) ? ["disk nearly full"] : []),
    ...(n.health === "degraded" ? ["degraded"] : []),
  ];
}

const isFull = (n: Node) => n.disk_size > 0 && n.disk / n.disk_size < 0.1;

/** The clock of a node less that of its parent, in milliseconds, as well as it is known. */
export const offsetOf = (n: Node) => n.skew_ms ?? n.offset_ms;

/** An offset of clocks in a few words. */
export function offsetWords(ms: number): string {
  if (Math.abs(ms) < 1000) return `${Math.round(ms)} ms`;
  return `${span(Math.abs(ms))} ${ms > 0 ? "ahead" : "behind"}`;
}

/**
 * For how long the oldest sample of a node waits, in milliseconds of its own clock; 0 if none does. Of one
 * that is connected for how long it did when the node said so: it may have gone up since.
 */
export function waitsFor(n: Node, now: number): number {
  if (n.waiting === 0 || !n.waiting_since) return 0;
  const isAway = n.state === "away";
  const said = !isAway && n.heard ? Math.min(now, Date.parse(n.heard)) : now;
  return Math.max(0, said + (isAway ? 0 : offsetOf(n)) - Date.parse(n.waiting_since));
}

/** The columns by which nodes are sorted, each with what is compared; "tree" keeps the tree. */
const keys = {
  name: (n: Node) => n.name,
  state: (n: Node, now: number) =>
    ranks.indexOf(nodeStanding(n, now).level as (typeof ranks)[number]),
  version: (n: Node) => n.version,
  rtt: (n: Node) => -n.rtt_ms,
  clock: (n: Node) => -Math.abs(offsetOf(n)),
  waiting: (n: Node) => -n.waiting,
  disk: (n: Node) => (n.disk_size > 0 ? n.disk / n.disk_size : 2),
  agents: (n: Node) => -n.agents,
  devices: (n: Node) => -n.devices,
} as const;

/** A column to sort by. */
export type SortKey = keyof typeof keys;

const greatestFirst: readonly SortKey[] = ["rtt", "clock", "waiting", "agents", "devices"];

/** Which way a column sorts. */
export const directionOf = (key: SortKey) =>
  greatestFirst.includes(key) ? "descending" : "ascending";

/** What of the nodes is shown, as the address says it. */
export interface Choice {
  /** "" for the order of the tree. */
  sort: SortKey | "";
  /** Words that all must be in name, version, role, place or state. */
  words: string;
  /** Only nodes that need attention. */
  onlyTroubled: boolean;
  asMap: boolean;
}

/** The choice of an address's query. */
export function choiceIn(search: string): Choice {
  const params = new URLSearchParams(search);
  const sort = params.get("sort") ?? "";
  return {
    sort: Object.hasOwn(keys, sort) ? (sort as SortKey) : "",
    words: params.get("q") ?? "",
    onlyTroubled: params.get("only") === "troubled",
    asMap: params.get("show") === "map",
  };
}

/** The inverse of choiceIn: the address of a choice. */
export function choiceAddress(c: Choice): string {
  const params = new URLSearchParams({
    ...(c.sort ? { sort: c.sort } : {}),
    ...(c.words ? { q: c.words } : {}),
    ...(c.onlyTroubled ? { only: "troubled" } : {}),
    ...(c.asMap ? { show: "map" } : {}),
  }).toString();
  return params ? `/nodes?${params}` : "/nodes";
}

/** The nodes that are chosen, in the order that is chosen. */
export function chosen(nodes: readonly Node[], c: Choice, now: number): Node[] {
  const words = c.words.toLowerCase().split(/\s+/);
  const found = nodes.filter((n) => {
    const standing = nodeStanding(n, now);
    if (c.onlyTroubled && standing.level === "good") return false;
    const text = [n.name, n.version, ...n.roles, ...n.roles.map(coded), n.prefix, standing.words]
      .join(" ")
      .toLowerCase();
    return words.every((w) => text.includes(w));
  });
  if (c.sort === "") return found;
  const key = keys[c.sort];
  return found
    .map((n) => ({ n, key: key(n, now) }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.n.name < b.n.name ? -1 : 1))
    .map(({ n }) => n);
}

/** A node with those directly below it. */
export interface Branch {
  node: Node;
  below: Branch[];
}

/** The nodes as a tree. What hangs under a node that is not known stands at the top. */
export function treeOf(nodes: readonly Node[]): Branch[] {
  const branches = new Map<string, Branch>();
  const key = (path: readonly string[]) => JSON.stringify(path);
  for (const node of nodes) branches.set(key(node.path), { node, below: [] });
  const tops: Branch[] = [];
  for (const branch of branches.values()) {
    const { path } = branch.node;
    const above = path.length > 0 ? branches.get(key(path.slice(0, -1))) : undefined;
    if (above) above.below.push(branch);
    else tops.push(branch);
  }
  return tops;
}

/** As many nodes are named in a sentence. */
const mostNamed = 3;

function wellWords(nodes: number): string {
  if (nodes === 1) return "This node is alone";
  return nodes === 2 ? "Both nodes are well" : `All ${count(nodes)} nodes are well`;
}

/** All nodes in one sentence. */
export function fleetSentence(nodes: readonly Node[], now: number): Standing {
  const levels = nodes.map((n) => nodeStanding(n, now).level);
  const bad = levels.filter((l) => l === "bad").length;
  const warn = levels.filter((l) => l === "warn").length;
  const whole = plural(nodes.length, "node");
  if (bad > 0) {
    const away = nodes.filter((n) => n.state === "away").length;
    const what = away === bad ? word("away") : "away, shut out, or not taken from";
    const names = nodes.filter((_, i) => levels[i] === "bad").map((n) => plain(n.name));
    const which = bad <= mostNamed ? `: ${names.join(", ")}` : "";
    return {
      level: "bad",
      words: `${bad} of ${whole} ${bad === 1 ? "is" : "are"} ${what}${which}`,
    };
  }
  if (warn > 0) {
    return {
      level: "warn",
      words: `All of ${whole} answer; ${warn} ${warn === 1 ? "needs" : "need"} a look`,
    };
  }
  return {
    level: "good",
    words: wellWords(nodes.length),
  };
}
