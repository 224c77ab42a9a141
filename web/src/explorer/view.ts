// What the explorer shows, as the query of its address, so that a link reproduces it.

import type { Span } from "../span";
import { type Choice, parseRange, putRange, type Range } from "../view";
import { addDays, addMonths, instantOf, knowsZone, localOf, ownZone } from "../zone";

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

/** How the stretch of time is shown. */
export const shows = ["plot", "table", "heat", "scatter", "duration"] as const;
export type Show = (typeof shows)[number];

/** Whose clock the times are of: the site's, this browser's, or UTC. */
export const clocks = ["site", "browser", "utc"] as const;
export type Clock = (typeof clocks)[number];

/** The time zone of a clock; a site that names none has that of this browser. */
export function zoneOf(clock: Clock, site: string): string {
  if (clock === "utc") return "UTC";
  return clock === "site" && knowsZone(site) ? site : ownZone();
}

/** What the explorer shows. */
export interface ExplorerView {
  /** In the order of their colours. */
  points: readonly string[];
  range: Range;
  comparison: Comparison;
  /** Whether curves say how far points are from what they are compared with. */
  difference: boolean;
  /** Whether a table of statistics stands below. */
  statistics: boolean;
  clock: Clock;
  step: Step;
  figure: Figure;
  show: Show;
  /** Formulas of computed series. */
  formulas: readonly string[];
  /** What a picture shows across, or alone, and up: a path or a formula; "" for the first there is. */
  x: string;
  y: string;
}

/** More curves than this cannot be told apart, nor their names stand in an address. */
export const mostCurves = 250;

/** More formulas than this are no view that anybody reads. */
export const mostFormulas = 10;

/** Reads an address's query; what is not understood is left at its default. */
export function parseExplorer(search: string): ExplorerView {
  const params = new URLSearchParams(search);
  const points = [...new Set(params.getAll("point"))].filter((p) => p !== "");
  return {
    points: points.slice(0, mostCurves),
    range: parseRange(params, spans),
    comparison: oneOf(comparisons, params.get("compare")),
    difference: params.get("difference") === "shown",
    statistics: params.get("statistics") === "shown",
    clock: oneOf(clocks, params.get("clock")),
    step: oneOf(steps, params.get("step")),
    figure: oneOf(figures, params.get("figure")),
    show: oneOf(shows, params.get("show")),
    formulas: [...new Set(params.getAll("formula"))].filter((f) => f !== "").slice(0, mostFormulas),
    x: params.get("x") ?? "",
    y: params.get("y") ?? "",
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
  if (view.comparison && view.difference) params.set("difference", "shown");
  if (view.statistics) params.set("statistics", "shown");
  if (view.clock !== "site") params.set("clock", view.clock);
  if (view.step) params.set("step", view.step);
  if (view.step && view.figure !== "mean") params.set("figure", view.figure);
  if (view.show !== "plot") params.set("show", view.show);
  for (const formula of view.formulas) params.append("formula", formula);
  if (view.x) params.set("x", view.x);
  if (view.y) params.set("y", view.y);
  return `/explore?${params}`;
}

/** The link to the explorer that shows points over a range. */
export const explorerAddress = (points: readonly string[], range: Range) =>
  formatExplorer({ ...parseExplorer(""), points, range });

/** The steps of what is shown: a heat map needs hours, and dots need values of the same times. */
export function stepOf({ show, step }: ExplorerView, [from, to]: Span): Step {
  if (show === "heat") return step === "15m" ? step : "1h";
  if (step !== "" || show === "plot" || show === "table") return step;
  const days = (to - from) / DAY;
  return days <= 2 ? "15m" : days <= 62 ? "1h" : "1d";
}

/** Milliseconds between a time and its like a day, week, month or year before, by the clock of a zone. */
export function shiftOf(comparison: Comparison, from: number, zone = ownZone()): number {
  if (comparison === "") return 0;
  const at = localOf(from, zone);
  const back = {
    day: () => addDays(at, -1),
    week: () => addDays(at, -7),
    month: () => addMonths(at, -1),
    year: () => addMonths(at, -12),
  }[comparison]();
  const into = from - instantOf(at, zone); // milliseconds, or the second of two hours of one name
  return from - instantOf({ ...at, ...back }, zone) - into;
}
