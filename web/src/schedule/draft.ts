// What is written in the forms of schedules and calendars.

import type {
  Calendar,
  CalendarEntry,
  Schedule,
  ScheduleEntry,
  ScheduleException,
} from "../generated/api";

/** The days of a week, as schedules name them. */
export const weekdays = [
  "monday",
  "tuesday",
  "wednesday",
  "thursday",
  "friday",
  "saturday",
  "sunday",
] as const;
export type Weekday = (typeof weekdays)[number];

/** A time of a day with a value, as text. */
export interface Row {
  at: string;
  value: string;
}

/** How dates are chosen. */
export type DateKind = "date" | "range" | "yearly" | "weekday" | "easter" | "calendar";

/** Dates, as text. */
export interface DateDraft {
  kind: DateKind;
  name: string;
  first: string;
  last: string;
  month: string;
  weekday: Weekday;
  week: string;
  days: string;
  calendar: string;
}

/** An exception, as text. */
export interface ExceptionDraft extends DateDraft {
  rows: Row[];
}

/** A schedule, as text. */
export interface Draft {
  name: string;
  description: string;
  zone: string;
  points: string;
  level: string;
  base: string;
  week: Record<Weekday, Row[]>;
  exceptions: ExceptionDraft[];
  from: string;
  to: string;
}

export const emptyDate = (kind: DateKind = "date"): DateDraft => ({
  kind,
  name: "",
  first: "",
  last: "",
  month: "1",
  weekday: "monday",
  week: "1",
  days: "0",
  calendar: "",
});

export const emptyException = (): ExceptionDraft => ({ ...emptyDate(), rows: [] });

const noWeek = (): Record<Weekday, Row[]> => ({
  monday: [],
  tuesday: [],
  wednesday: [],
  thursday: [],
  friday: [],
  saturday: [],
  sunday: [],
});

/** An empty schedule in the zone of the browser. */
export const emptyDraft = (): Draft => ({
  name: "",
  description: "",
  zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
  points: "",
  level: "",
  base: "",
  week: noWeek(),
  exceptions: [],
  from: "",
  to: "",
});

/** A value as text: "" for none. Texts that look like something else are in quotes. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string" && readValue(value) === value) return value;
  return JSON.stringify(value);
}

/** The value of a text: a number, true or false, else the text itself; null for none. */
export function readValue(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "" || trimmed === "null") return null;
  if (/^(true|false|-?\d+(\.\d+)?([eE][+-]?\d+)?|".*")$/.test(trimmed)) {
    try {
      return JSON.parse(trimmed) as unknown;
    } catch {
      return trimmed;
    }
  }
  return trimmed;
}

const rowsOf = (entries: readonly ScheduleEntry[] = []): Row[] =>
  entries.map((e) => ({ at: e.at, value: textOf(e.value) }));

const entriesOf = (rows: readonly Row[]): ScheduleEntry[] =>
  rows.filter((r) => r.at !== "").map((r) => ({ at: r.at, value: readValue(r.value) }));

/** A schedule as it is in the form. */
export function draftOf(s: Schedule): Draft {
  const week = noWeek();
  for (const day of weekdays) week[day] = rowsOf(s.week[day]);
  return {
    name: s.name,
    description: s.description ?? "",
    zone: s.time_zone ?? "UTC",
    points: s.points.join("\n"),
    level: s.level ? String(s.level) : "",
    base: textOf(s.default),
    week,
    exceptions: (s.exceptions ?? []).map((x) => ({ ...dateOf(x), rows: rowsOf(x.day) })),
    from: s.from ?? "",
    to: s.to ?? "",
  };
}

/** Dates as they are in the form. */
export function dateOf(d: CalendarEntry & { calendar?: string }): DateDraft {
  const out = { ...emptyDate(kindOf(d)), name: d.name ?? "", calendar: d.calendar ?? "" };
  out.first = d.date ?? d.first ?? d.yearly ?? "";
  out.last = d.last ?? "";
  out.month = String(d.month ?? 0);
  out.weekday = d.weekday ?? "monday";
  out.week = String(d.week ?? 0);
  out.days = String(d.easter ?? 0);
  return out;
}

function kindOf(d: CalendarEntry & { calendar?: string }): DateKind {
  if (d.calendar) return "calendar";
  if (d.first) return "range";
  if (d.yearly) return "yearly";
  if (d.weekday) return "weekday";
  return d.easter === undefined ? "date" : "easter";
}

/** What a form says of dates. */
export function dateFields(d: DateDraft): CalendarEntry & { calendar?: string } {
  const name = d.name.trim() === "" ? {} : { name: d.name.trim() };
  switch (d.kind) {
    case "date":
      return { date: d.first, ...name };
    case "range":
      return { first: d.first, last: d.last, ...name };
    case "yearly":
      return { yearly: d.first, ...name };
    case "easter":
      return { easter: Number(d.days) || 0, ...name };
    case "calendar":
      return { calendar: d.calendar, ...name };
    default: {
      const month = Number(d.month) === 0 ? {} : { month: Number(d.month) };
      const week = Number(d.week) === 0 ? {} : { week: Number(d.week) };
      return { weekday: d.weekday, ...month, ...week, ...name };
    }
  }
}

/** The schedule that a form says. The node says what is wrong with it. */
export function scheduleOf(d: Draft): Schedule {
  const week: Schedule["week"] = {};
  for (const day of weekdays) {
    if (d.week[day].length > 0) week[day] = entriesOf(d.week[day]);
  }
  const exceptions = d.exceptions.map(
    (x): ScheduleException => ({ ...dateFields(x), day: entriesOf(x.rows) }),
  );
  return {
    name: d.name.trim(),
    ...(d.description.trim() && { description: d.description.trim() }),
    ...(d.zone.trim() && { time_zone: d.zone.trim() }),
    points: d.points
      .split("\n")
      .map((p) => p.trim())
      .filter((p) => p !== ""),
    ...(Number(d.level) > 0 && { level: Number(d.level) }),
    ...(readValue(d.base) !== null && { default: readValue(d.base) }),
    week,
    ...(exceptions.length > 0 && { exceptions }),
    ...(d.from && { from: d.from }),
    ...(d.to && { to: d.to }),
  };
}

/** The calendar that a form says. */
export const calendarOf = (name: string, dates: readonly DateDraft[]): Calendar => ({
  name: name.trim(),
  dates: dates.map(dateFields),
});
