// What is known about an agent comes from four places: its process, its identity, what it says of
// itself, and its connection to the bus. A row joins them.

import type { Agent, Bus, Peer, Process, Traffic } from "../generated/api";
import type { Level } from "../health";

/** What goes over an agent's connection, in messages a second. */
export interface Flow {
  in: number;
  out: number;
}

/** An agent with all that is known about it. */
export interface Row {
  name: string;
  /** Undefined for one that this node did not install. */
  process?: Process;
  /** Undefined if it has no identity (yet). */
  identity?: Agent;
  peer?: Peer;
  /** Undefined if it is not known. */
  flow?: Flow;
}

/** Joins what is known, by name. */
export function rowsOf(
  processes: readonly Process[],
  identities: readonly Agent[],
  peers: readonly Peer[],
  flows: ReadonlyMap<string, Flow> = new Map(),
): Row[] {
  const rows = new Map<string, Row>();
  const row = (name: string) => {
    const known = rows.get(name) ?? { name };
    rows.set(name, known);
    return known;
  };
  for (const process of processes) row(process.name).process = process;
  for (const identity of identities) row(identity.name).identity = identity;
  for (const peer of peers) {
    const known = rows.get(peer.name);
    if (known) known.peer = peer;
  }
  for (const known of rows.values()) {
    const flow = flows.get(known.name);
    if (flow) known.flow = flow;
  }
  return [...rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What connections carried, by agent, at a time of this browser in milliseconds. */
export interface Counted {
  at: number;
  traffic: ReadonlyMap<string, { id: number; in: Traffic; out: Traffic }>;
}

/** Counts the traffic of the agents' connections, which are known by the beginning of their keys. */
export function countOf(bus: Bus, identities: readonly Agent[], at: number): Counted {
  const traffic = new Map<string, { id: number; in: Traffic; out: Traffic }>();
  for (const c of bus.connections) {
    if (c.key === "" || c.address === "") continue;
    const agent = identities.find((a) => a.public.startsWith(c.key));
    if (agent) traffic.set(agent.name, { id: c.id, in: c.in, out: c.out });
  }
  return { at, traffic };
}

/** The rates between two counts, of connections that are the same in both. */
export function flowsOf(before: Counted | undefined, now: Counted): Map<string, Flow> {
  const flows = new Map<string, Flow>();
  const seconds = before ? (now.at - before.at) / 1000 : 0;
  if (!before || seconds <= 0) return flows;
  for (const [name, t] of now.traffic) {
    const old = before.traffic.get(name);
    if (old?.id !== t.id) continue;
    flows.set(name, {
      in: (t.out.messages - old.out.messages) / seconds,
      out: (t.in.messages - old.in.messages) / seconds,
    });
  }
  return flows;
}

/** How an agent is, in one colour and a few words. */
export interface Standing {
  level: Level;
  words: string;
}

const states: Record<string, Standing> = {
  running: { level: "good", words: "running" },
  starting: { level: "wait", words: "starting" },
  stopping: { level: "wait", words: "stopping" },
  stopped: { level: "wait", words: "stopped" },
  "backing-off": { level: "bad", words: "ended, starts again soon" },
  failed: { level: "bad", words: "failed" },
  elsewhere: { level: "good", words: "at another replica" },
};

/** How the agent's process stands, or its connection if this node did not install it. */
export function standing({ process, identity, peer }: Row): Standing {
  if (identity?.revoked) return { level: "bad", words: "shut out" };
  if (process) {
    const known = Object.hasOwn(states, process.state) ? states[process.state] : undefined;
    return known ?? { level: "bad", words: process.state };
  }
  return identity?.online || peer?.online
    ? { level: "good", words: "connected" }
    : { level: "wait", words: "not connected" };
}

const healths: Record<string, Standing> = {
  good: { level: "good", words: "good" },
  bad: { level: "bad", words: "bad" },
  starting: { level: "wait", words: "starting" },
  silent: { level: "bad", words: "silent: no health report for three intervals" },
  unknown: { level: "wait", words: "it did not say" },
  offline: { level: "wait", words: "not connected" },
};

/** What the agent says about itself, with its reason. */
export function healthOf(peer: Peer | undefined): Standing & { why: string } {
  if (!peer) return { level: "wait", words: "–", why: "" };
  const known = Object.hasOwn(healths, peer.status) ? healths[peer.status] : undefined;
  const why = peer.context === undefined || peer.context === null ? "" : textOf(peer.context);
  return { level: "bad", words: peer.status, ...known, why };
}

const textOf = (context: unknown) =>
  typeof context === "string" ? context : JSON.stringify(context);
