// Changes of schedules in words.

import { dateLocale, exact } from "../format";
import type { ScheduleChange, Value } from "../generated/api";
import { word } from "../language/codes";

/** A value of a schedule in words. */
export const valueWords = (v: Value) =>
  typeof v === "boolean" ? word(v ? "on" : "off") : v === null ? "nothing" : exact(v);

/** A part of a strip, from 0 to 1. */
export interface Segment {
  from: number;
  to: number;
  value: Value;
  why: string;
}

/** What holds in a time, part by part. */
export function segments(
  now: ScheduleChange,
  changes: readonly ScheduleChange[],
  start: number,
  end: number,
): Segment[] {
  const place = (ms: number) => Math.min(1, Math.max(0, (ms - start) / (end - start)));
  const list = [now, ...changes.filter((c) => Date.parse(c.time) < end)];
  return list
    .map((c, i) => ({
      from: i === 0 ? 0 : place(Date.parse(c.time)),
      to: place(i + 1 < list.length ? Date.parse(list[i + 1]?.time ?? "") : end),
      value: c.value,
      why: c.why,
    }))
    .filter((s) => s.to > s.from);
}

/** When a change is, with the day of the week, by the clock of a zone. */
export function whenWords(time: string, zone: string): string {
  return new Date(time).toLocaleString(dateLocale, {
    timeZone: zone,
    weekday: "short",
    day: "numeric",
    month: "short",
    hour: "2-digit",
    minute: "2-digit",
  });
}
