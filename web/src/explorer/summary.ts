import type { Curve } from "../series";
import type { Cell } from "./rows";
import type { Figure } from "./view";

/** What the node says about a step. */
export interface Bucket {
  start: string;
  end: string;
  count: number;
  bad: number;
  /** The figure that was asked for, by its name. */
  values?: Record<string, number | null>;
}

/** The steps of one point. */
export interface Summary {
  point: string;
  unit: string;
  buckets: Bucket[] | null;
  expected: number | null;
  present: number;
  extra: number;
  bad: number;
}

/** A curve that holds the figure of each step until its end. */
export function summaryCurve(summary: Summary, figure: Figure): Curve {
  const { point, unit, expected, present, extra, bad } = summary;
  const times: number[] = [];
  const values: (number | null)[] = [];
  const put = (time: number, value: number | null) => {
    times.push(time);
    values.push(value);
  };
  const buckets = summary.buckets ?? [];
  buckets.forEach((bucket, i) => {
    const end = Date.parse(bucket.end);
    const next = buckets[i + 1];
    const value = figureOf(bucket, figure);
    put(Date.parse(bucket.start), value);
    if (next && Date.parse(next.start) <= end) return;
    // Nothing was measured in the step behind it
    put(end - 1, value);
    put(end, null);
  });
  const facts = { point, unit: figure === "count" ? "" : unit, expected, present, extra, bad };
  const since = Number.NEGATIVE_INFINITY;
  return { ...facts, kind: "float", times, values, gapMs: 1, since, stepped: true };
}

function figureOf(bucket: Bucket, figure: Figure): number | null {
  if (figure === "count") return bucket.count;
  const { values = {} } = bucket;
  return Object.hasOwn(values, figure) ? (values[figure] ?? null) : null;
}

/** The figure of each step as cells of a table. */
export const summaryCells = (summary: Summary, figure: Figure): Cell[] =>
  (summary.buckets ?? []).map((bucket) => ({
    time: Date.parse(bucket.start),
    value: figureOf(bucket, figure),
    quality: bucket.count === 0 && bucket.bad > 0 ? "bad" : "",
  }));
