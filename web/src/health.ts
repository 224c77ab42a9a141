import type { Device, Ledger, NodeHealth } from "./api";
import { plain, plural } from "./format";
import type { Counts } from "./generated/api";
import { said } from "./language/said";

/** How bad it is. */
export type Level = "good" | "wait" | "warn" | "bad";

/** All of it in one sentence, and how many there are of what is not well. */
export interface Health {
  level: Level;
  text: string;
  counts?: Counts | undefined;
}

const levels: Record<string, Level> = {
  online: "good",
  starting: "wait",
  disabled: "wait",
  elsewhere: "wait",
};

/** Whether a device answers, answers only for some of its points, need not answer (yet), or should answer and does not. */
export function deviceLevel(device: Device): Level {
  if (device.state === "online" && device.problem) return "warn";
  return Object.hasOwn(levels, device.state) ? (levels[device.state] ?? "bad") : "bad";
}

/** Whether an origin's books balance: what it produced is stored or on its way. */
export const isComplete = (ledger: Ledger) =>
  (ledger.origins ?? []).every((o) => o.balanced && o.missing === 0 && o.refused === 0);

/** Whether samples come from other nodes: such a node may have no devices of its own. */
export const hasOthers = (ledger: Ledger) => (ledger.origins ?? []).some((o) => !o.own);

/** What the node says of itself. The page only shows it: level, sentence and counts are made in one place, in the node. */
export function healthOf(told: NodeHealth): Health {
  const known = told.level && Object.hasOwn(words, told.level) ? told.level : undefined;
  const level = known ?? (told.status === "ok" ? "good" : "warn");
  return { level, text: plain(said(told.summary ?? "")), counts: told.counts };
}

/** A level in words. */
export const words = {
  good: "All is well",
  wait: "Wait a moment",
  warn: "Worth a look",
  bad: "Something is wrong",
} as const satisfies Record<Level, string>;

/** A number beside a way to a screen: how many things there wait for somebody. */
export interface Mark {
  level: Level;
  count: number;
  text: string;
}

/** What the menu shows beside the way to a screen; undefined for nothing. */
export function markOf(path: string, counts: Counts | undefined): Mark | undefined {
  if (!counts || !Object.hasOwn(marks, path)) return undefined;
  const [level, n, thing] = marks[path]?.(counts) ?? ["good", 0, ""];
  if (!(n > 0)) return undefined;
  const text = path === "alarms" ? plural(n, "open alarm") : `${plural(n, thing)} to look at`;
  return { level, count: n, text };
}

const marks: Record<string, (c: Counts) => [Level, number, string]> = {
  alarms: (c) => [
    c.alarms_critical + c.alarms_high > 0 ? "bad" : c.alarms > c.alarms_low ? "warn" : "wait",
    c.alarms,
    "alarm",
  ],
  control: (c) => [
    "warn",
    c.commands_failed + c.commands_unconfirmed + c.commands_differing + c.commands_pending,
    "command",
  ],
  site: (c) => [
    c.devices_silent + c.devices_unreadable > 0 ? "bad" : "warn",
    c.devices_silent + c.devices_unreadable + c.devices_partial,
    "device",
  ],
  agents: (c) => ["warn", c.agents, "agent"],
  nodes: (c) => [
    "warn",
    c.nodes_pending + c.nodes_away + c.nodes_refused + c.nodes_behind + c.nodes_unwell,
    "node",
  ],
  destinations: (c) => ["warn", c.destinations, "destination"],
};

const advice: Record<string, string> = {
  unreachable: "The device does not answer. Check its power, cable and address.",
  timeout: "No answer came in time. The line may be slow, or the unit number wrong.",
  rejected: "The device answered and said no. Check the point's address and type.",
  invalid: "The configuration does not fit the device. Change it.",
  "not-found": "The device does not know what was asked for.",
  refused: "The device refuses access. Check the permission.",
  corrupt: "The answer cannot be decoded. Another program may share the line.",
  unavailable: "The node cannot ask it now.",
  conflict: "Somebody else holds the line.",
};

/** What a device's last kind of error means, and what to do. */
export const adviceFor = (kind: string) =>
  Object.hasOwn(advice, kind) ? (advice[kind] ?? "") : "Something went wrong with this device.";
