// What members of the agent "regulation" publish each beat, below regulation/GROUP: the decisions of the leader, members/ADDRESS, and units/PATH.

import type { Scan } from "../api";

/** A member as it was heard last. */
export interface Member {
  address: string;
  /** The agent's name at the node. */
  agent: string;
  leads: boolean;
  leader: string;
  term: number;
  /** Milliseconds after which it is taken for absent. */
  silence: number;
  /** When it was heard, by the clock of the page. */
  at: number;
}

/** A unit as it was heard last. */
export interface HeardUnit {
  unit: string;
  member: string;
  temperature: number;
  position: number;
  runs: boolean;
  locked: boolean;
  /** kW */
  power: number;
  switches: number;
  /** K·h outside of its band */
  discomfort: number;
}

/** What a leader decided. Powers are in kW. */
export interface Decision {
  at: string;
  signal: number;
  response: number;
  target: number;
  power: number;
  capacity: number;
  more: number;
  less: number;
  /** 1 minus the mean error through the mean absolute signal so far; null while that is 0. */
  precision: number | null;
}

/** A group of members with one leader. */
export interface Group {
  name: string;
  members: Member[];
  units: HeardUnit[];
  /** The newest last. */
  decisions: Decision[];
}

const kept = 720;

/** Takes over a scan; false if it is not of a group. Groups are changed in place. */
export function hear(groups: Map<string, Group>, scan: Scan, now: number): boolean {
  const [root, name = "", kind, ...rest] = scan.device.split("/");
  if (root !== "regulation" || !name) return false;
  const group = groups.get(name) ?? { name, members: [], units: [], decisions: [] };
  if (kind === undefined) decided(group, scan);
  else if (kind === "members") put(group.members, memberOf(rest.join("/"), scan, now), "address");
  else if (kind === "units") put(group.units, unitOf(rest.join("/"), scan), "unit");
  else return false;
  groups.set(name, group);
  return true;
}

function put<T, K extends keyof T>(list: T[], one: T, key: K) {
  const i = list.findIndex((o) => o[key] === one[key]);
  if (i < 0) list.push(one);
  else list[i] = one;
}

function decided(group: Group, scan: Scan) {
  const { points: p, time } = scan;
  if (typeof p.precision === "undefined") return; // recorded samples, one by one
  const last = group.decisions.at(-1);
  if (last && Date.parse(last.at) >= Date.parse(time)) return;
  group.decisions.push({
    at: time,
    signal: num(p.signal),
    response: num(p.response),
    target: num(p.target),
    power: num(p.power),
    capacity: num(p.capacity),
    more: num(p.more),
    less: num(p.less),
    precision: typeof p.precision === "number" ? p.precision : null,
  });
  group.decisions.splice(0, group.decisions.length - kept);
}

function memberOf(address: string, { points: p }: Scan, at: number): Member {
  return {
    address,
    agent: text(p.agent) || address,
    leads: p.leads === true,
    leader: text(p.leader),
    term: num(p.term),
    silence: 1000 * num(p.silence),
    at,
  };
}

function unitOf(unit: string, { points: p }: Scan): HeardUnit {
  return {
    unit,
    member: text(p.member),
    temperature: num(p.temperature),
    position: num(p.position),
    runs: p.on === true,
    locked: num(p.free) > 0,
    power: num(p.power),
    switches: num(p.switches),
    discomfort: num(p.discomfort),
  };
}

const num = (v: unknown): number => (typeof v === "number" && Number.isFinite(v) ? v : 0);
const text = (v: unknown): string => (typeof v === "string" ? v : "");

/** Those of a group that are heard, by their addresses. */
export const present = (group: Group, now: number): Member[] =>
  group.members
    .filter((m) => now - m.at < m.silence + 1000)
    .sort((a, b) => (a.address < b.address ? -1 : 1));

/** The one that leads; of two, the one of the later term. */
export const leaderOf = (members: readonly Member[]): Member | undefined =>
  members.filter((m) => m.leads).sort((a, b) => b.term - a.term)[0];

/** The units in the order in which they would switch, the coolest first. */
export const stacked = (units: readonly HeardUnit[]): HeardUnit[] =>
  [...units].sort((a, b) => a.position - b.position || (a.unit < b.unit ? -1 : 1));
