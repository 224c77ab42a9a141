// What the explorer shows, as the query of its address, so that a link reproduces it.

import { type Choice, parseRange, putRange, type Range } from "../view";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** The ranges that end now. */
export const spans = [
  { label: "1 h", key: "1h", ms: HOUR },
  { label: "6 h", key: "6h", ms: 6 * HOUR },
  { label: "1 day", key: "1d", ms: DAY },
  { label: "7 days", key: "7d", ms: 7 * DAY },
  { label: "30 days", key: "30d", ms: 30 * DAY },
  { label: "1 year", key: "1y", ms: 366 * DAY },
] as const satisfies readonly Choice[];

/** Time before with which curves are compared, "" for none. */
export const comparisons = ["", "day", "week", "month", "year"] as const;
export type Comparison = (typeof comparisons)[number];

/** Steps of the calendar over which values are summarised, "" for the measured values. */
export const steps = ["", "15m", "1h", "1d", "1w", "1mo", "1y"] as const;
export type Step = (typeof steps)[number];

/** What a step says about its values. */
export const figures = [
  "mean",
  "timeweighted",
  "min",
  "max",
  "median",
  "p95",
  "stddev",
  "sum",
  "count",
  "first",
  "last",
] as const;
export type Figure = (typeof figures)[number];

/** What the explorer shows. */
export interface ExplorerView {
  /** In the order of their colours. */
  points: readonly string[];
  range: Range;
  comparison: Comparison;
  step: Step;
  figure: Figure;
  show: "plot" | "table";
}

/** More curves than this cannot be told apart, nor their names stand in an address. */
export const mostCurves = 250;

/** Reads an address's query; what is not understood is left at its default. */
export function parseExplorer(search: string): ExplorerView {
  const params = new URLSearchParams(search);
  const points = [...new Set(params.getAll("point"))].filter((p) => p !== "");
  return {
    points: points.slice(0, mostCurves),
    range: parseRange(params, spans),
    comparison: oneOf(comparisons, params.get("compare")),
    step: oneOf(steps, params.get("step")),
    figure: oneOf(figures, params.get("figure")),
    show: params.get("show") === "table" ? "table" : "plot",
  };
}

function oneOf<T extends string>(known: readonly [T, ...T[]], given: string | null): T {
  return known.find((k) => k === given) ?? known[0];
}

/** The inverse of parseExplorer; what stands at its default is left out. */
export function formatExplorer(view: ExplorerView): string {
  const params = new URLSearchParams();
  for (const point of view.points) params.append("point", point);
  putRange(params, view.range, spans);
  if (view.comparison) params.set("compare", view.comparison);
  if (view.step) params.set("step", view.step);
  if (view.step && view.figure !== "mean") params.set("figure", view.figure);
  if (view.show !== "plot") params.set("show", view.show);
  return `/explore?${params}`;
}

/** The link to the explorer that shows points over a range. */
export const explorerAddress = (points: readonly string[], range: Range) =>
  formatExplorer({ points, range, comparison: "", step: "", figure: "mean", show: "plot" });

/** Milliseconds between a time and its like a day, week, month or year before, in this browser's zone. */
export function shiftOf(comparison: Comparison, from: number): number {
  const then = new Date(from);
  if (comparison === "day") then.setDate(then.getDate() - 1);
  else if (comparison === "week") then.setDate(then.getDate() - 7);
  else if (comparison === "month") back(then, 1);
  else if (comparison === "year") back(then, 12);
  return from - then.getTime();
}

/** Goes back some months, to the last day of a month that is too short. */
function back(date: Date, months: number): void {
  const day = date.getDate();
  date.setDate(1);
  date.setMonth(date.getMonth() - months);
  const last = new Date(date.getFullYear(), date.getMonth() + 1, 0).getDate();
  date.setDate(Math.min(day, last));
}
