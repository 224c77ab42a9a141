// How complete the history is, as the node's heat map says it: a row for each branch, a cell for
// each step of time.

/** One branch of a heat map. */
export interface HeatRow {
  path: string;
  /** Points below it. */
  points: number;
  present: number;
  expected: number;
  /** 0 to 1 for each step; null if nothing was expected in it. */
  coverage: (number | null)[];
}

/** A heat map; cell i is about the time from from + i · step on. */
export interface HeatMap {
  from: string;
  to: string;
  /** Seconds. */
  step: number;
  rows: HeatRow[];
  /** The "after" of the next page, "" on the last. */
  next: string;
}

/** The spans to choose from, with so many steps that one is easy to name. */
export const spans = [
  { key: "6h", label: "6 hours", ms: 6 * 3_600_000, steps: 72 },
  { key: "1d", label: "Day", ms: 86_400_000, steps: 96 },
  { key: "7d", label: "Week", ms: 7 * 86_400_000, steps: 84 },
  { key: "30d", label: "Month", ms: 30 * 86_400_000, steps: 90 },
] as const;

/** A span to choose. */
export type Span = (typeof spans)[number];

/** The span of an address's query, a day if it names none. */
export function spanIn(search: string): Span {
  const key = new URLSearchParams(search).get("span");
  return spans.find((s) => s.key === key) ?? spans[1];
}

/** How a cell is painted: nothing expected, complete, a little missing, much, nearly all, all. */
export type Shade = "none" | "full" | "few" | "some" | "most" | "all";

/** The shade of a completeness. A cell that lacks anything is never painted as full. */
export function shadeOf(coverage: number | null | undefined): Shade {
  if (coverage === null || coverage === undefined) return "none";
  if (coverage >= 1) return "full";
  if (coverage >= 0.95) return "few";
  if (coverage >= 0.5) return "some";
  return coverage > 0 ? "most" : "all";
}

/** A run of neighbouring steps in which something is missing. */
export interface Hole {
  path: string;
  /** Milliseconds since 1970. */
  from: number;
  to: number;
  /** The mean completeness of its steps, 0 to 1. */
  coverage: number;
}

/** The holes of a row, the oldest first. */
export function holesOf(row: HeatRow, map: Pick<HeatMap, "from" | "step">): Hole[] {
  const begin = Date.parse(map.from);
  const stepMs = map.step * 1000;
  const found: Hole[] = [];
  let open: { first: number; sum: number } | undefined;
  const close = (end: number) => {
    if (!open) return;
    const coverage = open.sum / (end - open.first);
    found.push({
      path: row.path,
      from: begin + open.first * stepMs,
      to: begin + end * stepMs,
      coverage,
    });
    open = undefined;
  };
  row.coverage.forEach((c, i) => {
    if (c === null || c >= 1) close(i);
    else {
      open ??= { first: i, sum: 0 };
      open.sum += c;
    }
  });
  close(row.coverage.length);
  return found;
}
