// What a shift hands over, from what the node told: so much as fits a page.

import { isOpen } from "../alarm/words";
import { plural } from "../format";
import type { Alarm, ControlPoint, ControlSlot, TimelineEvent } from "../generated/api";

/** How many lines each part has at most, so that all of them fit a page of A4. */
export const most = { open: 12, happened: 14, overrides: 6, held: 5, set: 5, notes: 5 } as const;

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
  point: ControlPoint;
  slot: ControlSlot;
}

/** The commands of people that are in force. */
export const heldByHand = (points: readonly ControlPoint[]): HeldByHand[] =>
  points.flatMap((point) =>
    point.array
      .filter((slot) => slot.requester.startsWith("person:"))
      .map((slot) => ({ point, slot })),
  );

/** The shift in one sentence. */
export function sentence(parted: Parted, events: readonly TimelineEvent[], all: boolean): string {
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
    !all && "and more that is not counted",
  ];
  return `${parts.filter(Boolean).join(", ")}.`;
}
