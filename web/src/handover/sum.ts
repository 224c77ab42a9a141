// What a shift hands over, from what the node told: so much as fits a page.

import { isOpen } from "../alarm/words";
import { plural } from "../format";
import type {
  Alarm,
  ControlHolder,
  ControlPoint,
  ControlSlot,
  NodeAlarms,
  NotedAnnotation,
  TimelineEvent,
  TimelineMissing,
} from "../generated/api";

/** How many lines each part has at most, so that all of them fit a page of A4. */
export const most = {
  ...{ untold: 3, open: 12, happened: 14, overrides: 6, held: 5, set: 5, notes: 5 },
} as const;

/** The alarms by what is done about them. */
export interface Parted {
  open: Alarm[];
  shelved: Alarm[];
  /** Out of service, or suppressed. */
  off: Alarm[];
}

const urgency = ["critical", "high", "medium", "low"];

/** Alarms by what is done about them, the most urgent and then the newest first. */
export function partAlarms(alarms: readonly Alarm[]): Parted {
  const sorted = [...alarms].sort(
    (a, b) =>
      urgency.indexOf(a.priority) - urgency.indexOf(b.priority) || b.since.localeCompare(a.since),
  );
  return {
    open: sorted.filter(isOpen),
    shelved: sorted.filter((a) => a.state === "shelved"),
    off: sorted.filter((a) => a.state === "out_of_service" || a.state === "suppressed"),
  };
}

/** What the next shift must know: troubles, what people commanded or changed, and restarts; the newest first. */
export const matters = (events: readonly TimelineEvent[]): TimelineEvent[] =>
  events.filter(
    (e) =>
      e.level === "bad" ||
      e.level === "warn" ||
      e.kind === "restart" ||
      ((e.kind === "command" || e.kind === "change") && e.who.startsWith("person:")),
  );

/** A point that a person holds at a value. */
export interface HeldByHand {
  /** "" for this node. */
  node: string;
  path: string;
  /** "" if it is not known. */
  unit: string;
  slot: ControlSlot;
}

/** What a node leaves to the next shift. Each line has the name of its node, "" for this one. */
export interface Left {
  overrides: { node: string; holder: ControlHolder }[];
  byHand: HeldByHand[];
  notes: { node: string; note: NotedAnnotation }[];
}

const isByHand = (slot: ControlSlot) => slot.requester.startsWith("person:");

/** The commands of people that are in force at this node. */
export const heldByHand = (points: readonly ControlPoint[]): HeldByHand[] =>
  points.flatMap(({ point: path, unit, array }) =>
    array.filter(isByHand).map((slot) => ({ node: "", path, unit, slot })),
  );

const nothing: Left = { overrides: [], byHand: [], notes: [] };

/** The commands of people among those in force at a node. */
export const heldAt = (node: string, commands: readonly ControlSlot[]): HeldByHand[] =>
  commands.filter(isByHand).map((slot) => ({ node, path: slot.path ?? "", unit: "", slot }));

/** What this node and others leave, the newest first. */
export function together(own: Left, others: Left = nothing): Left {
  const newest =
    <T>(timeOf: (line: T) => string | undefined) =>
    (a: T, b: T) =>
      (timeOf(b) ?? "").localeCompare(timeOf(a) ?? "");
  return {
    overrides: [...own.overrides, ...others.overrides].sort(newest((o) => o.holder.from)),
    byHand: [...own.byHand, ...others.byHand].sort(newest((h) => h.slot.from)),
    notes: [...own.notes, ...others.notes].sort(newest((n) => n.note.from)),
  };
}

/** How many events have room beside the lines about nodes that do not tell everything, and the longer sentence. */
export const mostHappened = (untold: readonly Untold[]) =>
  untold.length === 0
    ? most.happened
    : most.happened - Math.min(untold.length, most.untold + 1) - 2;

/** The parts of a hand-over that a node may not tell. */
export const parts = ["alarms", "happened", "overrides", "held", "notes"] as const;

/** A part of a hand-over. */
export type Part = (typeof parts)[number];

/** What a node does not tell. */
export interface Untold {
  node: string;
  /** Empty for all of them. */
  parts: Part[];
  /** Why, each reason once. */
  reasons: string[];
}

/** What is not told, one line for each node, by name. */
export function allUntold(
  missing: readonly TimelineMissing[],
  alarms: readonly NodeAlarms[],
  others: readonly Untold[],
): Untold[] {
  const byNode = new Map(others.map((u) => [u.node, u]));
  const add = (node: string, part: Part, reason: string) => {
    const known = byNode.get(node);
    if (known?.parts.length === 0) return;
    const reasons = [...new Set([reason, ...(known?.reasons ?? [])])];
    byNode.set(node, { node, parts: [part, ...(known?.parts ?? [])], reasons });
  };
  for (const m of missing) add(m.node, "happened", m.message);
  for (const a of alarms) if (!a.known) add(a.node, "alarms", a.reason);
  return [...byNode.values()]
    .map((u) => (u.parts.length === parts.length ? { ...u, parts: [] } : u))
    .sort((a, b) => a.node.localeCompare(b.node));
}

/** The shift in one sentence. */
export function sentence(
  parted: Parted,
  events: readonly TimelineEvent[],
  all: boolean,
  untold: readonly Untold[] = [],
): string {
  const times = (is: (e: TimelineEvent) => boolean) => events.filter(is).length;
  const waits = parted.open.filter((a) => a.state === "unacknowledged").length;
  const outages = times((e) => e.kind === "outage" && (e.level === "bad" || e.level === "warn"));
  const restarts = times((e) => e.kind === "restart");
  const commands = times((e) => e.kind === "command" && e.who.startsWith("person:"));
  const changed = times((e) => e.kind === "change");
  const parts = [
    parted.open.length > 0 ? plural(parted.open.length, "open alarm") : "No open alarm",
    waits > 0 && `${waits} not acknowledged`,
    outages > 0 && plural(outages, "outage"),
    restarts > 0 && plural(restarts, "restart"),
    commands > 0 && plural(commands, "command"),
    changed > 0 && plural(changed, "change"),
    untold.length > 0 && `${plural(untold.length, "node")} not told or only in part`,
    !all && "and more that is not counted",
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}
