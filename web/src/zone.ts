// Time zones: what a clock of a zone shows at an instant, and when it shows something. Days have 23
// or 25 hours where clocks change.

/** What a clock shows; months count from 1. */
export interface Local {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
}

/** A day of the calendar. */
export type Day = Pick<Local, "year" | "month" | "day">;

/** The zone of this browser. */
export const ownZone = () => Intl.DateTimeFormat().resolvedOptions().timeZone;

const clocks = new Map<string, Intl.DateTimeFormat | undefined>();

function clockOf(zone: string): Intl.DateTimeFormat | undefined {
  if (!clocks.has(zone)) {
    try {
      const how = { era: "short", year: "numeric", month: "numeric", day: "numeric" } as const;
      const time = { hour: "numeric", minute: "numeric", second: "numeric" } as const;
      const all = { ...how, ...time, hourCycle: "h23", timeZone: zone } as const;
      clocks.set(zone, new Intl.DateTimeFormat("en-US", all));
    } catch {
      clocks.set(zone, undefined);
    }
  }
  return clocks.get(zone);
}

/** Whether this browser has the zone's rules. */
export const knowsZone = (zone: string) => zone !== "" && clockOf(zone) !== undefined;

const quarter = 900_000;
const offsets = new Map<string, number>();
const mostOffsets = 200_000;

/** How far the clock of a zone is ahead of UTC, in milliseconds. Offsets change at quarters of an hour only. */
export function offsetOf(ms: number, zone: string): number {
  if (zone === "UTC") return 0;
  const at = Math.floor(ms / quarter);
  const key = `${at} ${zone}`;
  const known = offsets.get(key);
  if (known !== undefined) return known;
  const parts = clockOf(zone)?.formatToParts(at * quarter) ?? [];
  const part = (type: string) => Number(parts.find((p) => p.type === type)?.value ?? Number.NaN);
  const wall = Date.UTC(
    part("year"),
    part("month") - 1,
    part("day"),
    part("hour"),
    part("minute"),
    part("second"),
  );
  const offset = Number.isFinite(wall) ? wall - at * quarter : 0;
  if (offsets.size > mostOffsets) offsets.clear();
  offsets.set(key, offset);
  return offset;
}

/** What the clock of a zone shows at an instant. */
export function localOf(ms: number, zone: string): Local {
  const wall = new Date(ms + offsetOf(ms, zone));
  return {
    year: wall.getUTCFullYear(),
    month: wall.getUTCMonth() + 1,
    day: wall.getUTCDate(),
    hour: wall.getUTCHours(),
    minute: wall.getUTCMinutes(),
    second: wall.getUTCSeconds(),
  };
}

const halfDay = 43_200_000;

/**
 * When the clock of a zone shows a time: for the first time if it does so twice, and as much later
 * as it was put forward if it skips the time.
 */
export function instantOf(day: Day & Partial<Local>, zone: string): number {
  const { year, month, day: date, hour = 0, minute = 0, second = 0 } = day;
  const wall = Date.UTC(year, month - 1, date, hour, minute, second);
  const before = wall - offsetOf(wall - 2 * halfDay, zone);
  const after = wall - offsetOf(wall + 2 * halfDay, zone);
  const shown = [before, after].filter((t) => t + offsetOf(t, zone) === wall);
  return shown.length > 0 ? Math.min(...shown) : before;
}

/** The day so many days later. */
export function addDays({ year, month, day }: Day, days: number): Day {
  const at = new Date(Date.UTC(year, month - 1, day + days));
  return { year: at.getUTCFullYear(), month: at.getUTCMonth() + 1, day: at.getUTCDate() };
}

/** The same day so many months later, or the last one of a month that is too short. */
export function addMonths({ year, month, day }: Day, months: number): Day {
  const first = addDays({ year, month: month + months, day: 1 }, 0);
  return { ...first, day: Math.min(day, daysIn(first)) };
}

/** How many days the month of a day has. */
export const daysIn = ({ year, month }: Day) => new Date(Date.UTC(year, month, 0)).getUTCDate();

/** 0 for Monday to 6 for Sunday (ISO 8601). */
export const weekdayOf = ({ year, month, day }: Day) =>
  (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;

/** A number that grows with the days. */
export const dayNumber = ({ year, month, day }: Day) => Date.UTC(year, month - 1, day) / 86_400_000;

const two = (n: number) => String(n).padStart(2, "0");

/** A day as ISO 8601 has it. */
export const isoDay = ({ year, month, day }: Day) =>
  `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;

/** Date and time of a zone: "2026-03-09 14:03:09". */
export function dateTimeIn(ms: number, zone: string): string {
  const at = localOf(ms, zone);
  return `${isoDay(at)} ${two(at.hour)}:${two(at.minute)}:${two(at.second)}`;
}

/** Date and minute of a zone: "2026-03-09 14:03". */
export const minuteIn = (ms: number, zone: string) => dateTimeIn(ms, zone).slice(0, 16);

/** The distance from UTC as ISO 8601 has it: "+02:00". */
export function offsetWords(ms: number, zone: string): string {
  const minutes = Math.round(offsetOf(ms, zone) / 60_000);
  const size = Math.abs(minutes);
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}:${two(size % 60)}`;
}

/** Date and minute as people write them, in a zone; undefined if it is none. */
export function readTime(text: string, zone: string): number | undefined {
  const found = /^\s*(\d{4})-(\d\d?)-(\d\d?)(?:[ T]+(\d\d?):(\d\d)(?::(\d\d))?)?\s*$/.exec(text);
  if (!found) return undefined;
  const [year, month, day, hour, minute, second] = found.slice(1).map((n) => Number(n ?? 0));
  const at = { year: year ?? 0, month: month ?? 0, day: day ?? 0, hour, minute, second };
  if (at.month < 1 || at.month > 12 || at.day < 1 || at.day > daysIn(at)) return undefined;
  if ((hour ?? 0) > 24 || (minute ?? 0) > 59 || (second ?? 0) > 59) return undefined;
  return instantOf(at as Day & Partial<Local>, zone);
}
