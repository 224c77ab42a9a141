// A weekly report while somebody writes it.

import type { WeeklyReport } from "../generated/api";

export const weekdays = [
  ["monday", "Monday"],
  ["tuesday", "Tuesday"],
  ["wednesday", "Wednesday"],
  ["thursday", "Thursday"],
  ["friday", "Friday"],
  ["saturday", "Saturday"],
  ["sunday", "Sunday"],
] as const;

/** A report has no more points. */
export const mostPoints = 50;

export interface Draft {
  name: string;
  title: string;
  /** Of a saved view whose points the report has; "" if it names them. */
  view: string;
  /** One in a line. */
  points: string;
  contacts: readonly string[];
  weekday: string;
  at: string;
}

export const emptyDraft = (): Draft => ({
  name: "",
  title: "",
  view: "",
  points: "",
  contacts: [],
  weekday: "monday",
  at: "06:00",
});

export const draftOf = (r: WeeklyReport): Draft => ({
  name: r.name,
  title: r.title,
  view: r.view,
  points: r.points.join("\n"),
  contacts: r.contacts,
  weekday: r.weekday,
  at: r.time,
});

/** The points of a draft, without empty lines and those that are there already. */
export const pointsOf = (text: string): string[] => [
  ...new Set(
    text
      .split("\n")
      .map((line) => line.trim())
      .filter((line) => line !== ""),
  ),
];

/** What the node is told to keep. */
export const reportOf = (d: Draft) => ({
  name: d.name.trim(),
  title: d.title.trim(),
  ...(d.view ? { view: d.view } : { points: pointsOf(d.points) }),
  contacts: d.contacts,
  weekday: d.weekday,
  at: d.at,
});

/** What is missing in a draft; "" if nothing is. The node checks the rest. */
export function missing(d: Draft, taken: readonly string[] = []): string {
  if (!/^[\w-]{1,64}$/.test(d.name.trim()))
    return "Name: write letters, digits, - and _, up to 64.";
  if (taken.includes(d.name.trim())) return "Name: it is taken; write another one.";
  if (d.title.trim() === "") return "Title: write what stands above the report.";
  const many = pointsOf(d.points).length;
  if (!d.view && many === 0) return "Points: name at least one, or choose a saved view.";
  if (!d.view && many > mostPoints) return `Points: a report has at most ${mostPoints}.`;
  if (!/^\d\d:\d\d$/.test(d.at)) return "Time: write a time of day such as 06:00.";
  return "";
}
