import { dateLocale } from "../format";
import type { TimelineEvent } from "../generated/api";

/** What happened on one day, in this browser's zone. */
export interface Day {
  day: string;
  events: TimelineEvent[];
}

/** Events by the days on which they were, in their order. */
export function byDay(events: readonly TimelineEvent[]): Day[] {
  const days: Day[] = [];
  for (const e of events) {
    const day = new Date(e.time)
      .toLocaleDateString(dateLocale, {
        weekday: "long",
        day: "numeric",
        month: "long",
        year: "numeric",
      })
      .replace(",", "");
    const last = days.at(-1);
    if (last?.day === day) last.events.push(e);
    else days.push({ day, events: [e] });
  }
  return days;
}

/** The time of a day, to the second. */
export const timeOf = (time: string) =>
  new Date(time).toLocaleTimeString(dateLocale, {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
