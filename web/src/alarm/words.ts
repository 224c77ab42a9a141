import { count } from "../format";
import type { Alarm, AlarmRule } from "../generated/api";
import type { Level } from "../health";

const levels: Record<string, Level> = { critical: "bad", high: "bad", medium: "warn", low: "wait" };

/** How much an alarm matters; one of a priority that is not known is taken seriously. */
export const levelOf = (alarm: Pick<Alarm, "priority">): Level =>
  Object.hasOwn(levels, alarm.priority) ? (levels[alarm.priority] ?? "bad") : "bad";

/** How much the worst matters. */
export function worst(alarms: readonly Pick<Alarm, "priority">[]): Level {
  const found = alarms.map(levelOf);
  return found.includes("bad") ? "bad" : found.includes("warn") ? "warn" : "wait";
}

const kept = ["shelved", "suppressed", "out_of_service"];

/** Whether operators are told of an alarm. */
export const isOpen = (alarm: Pick<Alarm, "state">) => !kept.includes(alarm.state);

/** "1 open alarm", "3 open alarms". */
export const openWords = (n: number) => `${count(n)} open alarm${n === 1 ? "" : "s"}`;

const states: Record<string, string> = {
  unacknowledged: "active, not acknowledged",
  acknowledged: "active, acknowledged",
  returned: "over, not acknowledged",
  latched_unacknowledged: "over, latched, not acknowledged",
  latched_acknowledged: "over, waits to be reset",
  shelved: "shelved",
  suppressed: "suppressed by design",
  out_of_service: "out of service",
};

/** A state in words; one that is not known as the node writes it. */
export const stateWords = (state: string) =>
  Object.hasOwn(states, state) ? (states[state] ?? state) : state;

const events: Record<string, string> = {
  opened: "Opened",
  returned: "Returned to normal",
  acknowledged: "Acknowledged",
  reset: "Reset",
  shelved: "Shelved",
  unshelved: "Unshelved",
  shelf_expired: "No longer shelved, its time is over",
  suppressed: "Suppressed by design",
  unsuppressed: "No longer suppressed",
  out_of_service: "Taken out of service",
  back_in_service: "Back in service",
  ended: "Ended with its rule",
};

/** What happened to an alarm in words; what is not known as the node writes it. */
export const eventWords = (event: string) =>
  Object.hasOwn(events, event) ? (events[event] ?? event) : event;

/** Whether somebody has to acknowledge an alarm. */
export const waits = (alarm: Pick<Alarm, "state">) =>
  ["unacknowledged", "returned", "latched_unacknowledged"].includes(alarm.state);

function checkWords(r: AlarmRule): string {
  switch (r.check) {
    case "high":
      return `above ${r.limit ?? 0}`;
    case "low":
      return `below ${r.limit ?? 0}`;
    case "rate":
      return `changes by more than ${r.change ?? 0} in ${r.per ?? 60} s`;
    case "stuck":
      return `the same for ${r.longest ?? 0} s`;
    case "stale":
      return r.longest ? `no new value for ${r.longest} s` : "no new value for three intervals";
    case "state":
      return `is ${(r.values ?? []).join(" or ")}`;
    case "discrepancy":
      return `differs from ${r.feedback ?? ""}`;
    case "expression":
      return r.expression ?? "";
    default:
      return r.check;
  }
}

/** What a rule looks for: "high: above 80, deadband 2, after 60 s". */
export function ruleWords(r: AlarmRule): string {
  const parts = [checkWords(r)];
  if (r.deadband) parts.push(`deadband ${r.deadband}`);
  if (r.on_delay) parts.push(`after ${r.on_delay} s`);
  if (r.latching) parts.push("latching");
  return parts.join(", ");
}

/** A name for a rule on a point: "b1-ahu2-temp-high". */
export const ruleName = (path: string, check: string) =>
  `${path}-${check}`
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+/, "")
    .slice(-64)
    .replace(/^[^a-z0-9]+/, "");

/** Alarms of one rule together, in the order of the list. */
export function groupedByRule(alarms: readonly Alarm[]): { name: string; of: Alarm[] }[] {
  const groups = new Map<string, Alarm[]>();
  for (const a of alarms) {
    const name = a.rule || a.agent;
    groups.set(name, [...(groups.get(name) ?? []), a]);
  }
  return [...groups].map(([name, of]) => ({ name, of }));
}
