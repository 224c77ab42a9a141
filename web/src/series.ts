import type { Kind, PlotSeries, Value } from "./api";
import { filled, outdone } from "./filled";
import { count, percent, plural } from "./format";

/** One curve. Times are milliseconds since 1970 and rise; null is a gap. */
export interface Curve {
  point: string;
  unit: string;
  kind: Kind;
  times: number[];
  values: (number | null)[];
  /** Samples further apart than this have a gap between them; 0 if that cannot be said. */
  gapMs: number;
  expected: number | null;
  present: number;
  /** Of those present, the ones that the interval does not ask for. */
  extra: number;
  bad: number;
  /** When samples began to be expected within the range; minus infinity if that is unknown. */
  since: number;
  /** From when to when samples are uncertain. */
  uncertain?: readonly (readonly [number, number])[];
  /** Whether its history is not there yet, but perhaps what came live. */
  isWaiting?: boolean;
  /** Whether a value holds until the next one; booleans always do. */
  stepped?: boolean;
  /** The index of its colour; without it, its place among the curves. */
  ink?: number;
  /** Whether it only stands behind another one for comparison. */
  ghost?: boolean;
}

/** A curve without samples, of which nothing is known. */
export const emptyCurve = (point: string, unit: string): Curve => ({
  point,
  unit,
  kind: "float",
  times: [],
  values: [],
  gapMs: 0,
  expected: null,
  present: 0,
  extra: 0,
  bad: 0,
  since: Number.NEGATIVE_INFINITY,
});

const isBad = (quality: string | undefined) => quality?.startsWith("bad") ?? false;

/** The number to draw for a value, or null. */
export function numeric(value: Value | undefined, quality?: string): number | null {
  if (isBad(quality)) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** How an answer was asked: until when, how wide a pixel is, how often a sample is expected (0 if unknown). */
export interface Asked {
  to: number;
  stepMs: number;
  intervalMs: number;
}

/** Makes a curve of an answer. */
export function curveOf(series: PlotSeries, { to, stepMs, intervalMs }: Asked): Curve {
  const { point, unit, kind, expected, present, extra, bad } = series;
  const isKnown = expected !== null && intervalMs > 0;
  const since = isKnown ? to - (expected + 1) * intervalMs : Number.NEGATIVE_INFINITY;
  const gapMs = intervalMs > 0 ? 3 * Math.max(intervalMs, stepMs) : 0;
  const facts = { point, unit, kind, expected, present, extra, bad, since, gapMs };
  const curve: Curve = { ...facts, times: [], values: [] };
  const samples = series.samples ?? [];
  const qualities = samples.map(([, , quality]) => quality ?? "");
  const leaves = qualities.includes(filled) ? outdone(qualities) : [];
  samples.forEach(([time, value, quality], i) => {
    if (!leaves[i]) append(curve, time, numeric(value, quality));
  });
  return curve;
}

/** Adds a sample at the end; one that is not newer is ignored. Reports whether it was added. */
export function append(curve: Curve, time: number, value: number | null): boolean {
  const last = curve.times.at(-1);
  if (last !== undefined) {
    if (time <= last) return false;
    if (curve.gapMs > 0 && time - last > curve.gapMs && value !== null) {
      curve.times.push(last + 1);
      curve.values.push(null);
    }
  }
  curve.times.push(time);
  curve.values.push(value);
  return true;
}

/** Puts what came live after the fresh answer behind it. */
export function continueWith(fresh: Curve, old: Curve | undefined): Curve {
  old?.times.forEach((time, i) => {
    append(fresh, time, old.values[i] ?? null);
  });
  return fresh;
}

/** Where a live plot begins: at from, or where the history of young points begins, but a minute back. */
export function beginOf(curves: readonly Curve[], from: number, to: number): number {
  const oldest = Math.min(...curves.map((c) => c.since));
  return curves.length === 0 ? from : Math.max(from, Math.min(oldest, to - 60_000));
}

/** How many samples of a curve are at or before a time. */
export function indexAfter({ times }: Curve, time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The value at a time: that of the latest sample at or before it. */
export function valueAt(curve: Curve, time: number): number | null | undefined {
  const n = indexAfter(curve, time);
  return n === 0 ? undefined : curve.values[n - 1];
}

/** How many samples there are, and how many were expected if that is known. */
export type Counted = Pick<Curve, "expected" | "present" | "extra" | "bad">;

/** How many of the expected samples are there: what is beyond the interval makes up for none that is missing. */
export const countedOf = ({ expected, present, extra }: Counted) =>
  Math.min(present - extra, expected ?? 0);

/** Completeness in words. */
export function completeness(curves: readonly Counted[]): string {
  const known = curves.filter((c) => c.expected !== null);
  const expected = known.reduce((sum, c) => sum + (c.expected ?? 0), 0);
  const present = known.reduce((sum, c) => sum + countedOf(c), 0);
  const bad = curves.reduce((sum, c) => sum + c.bad, 0);
  const without = `${count(bad)} without a usable value`;
  const tail = bad > 0 ? `; ${without}` : "";
  if (expected === 0) {
    return `${plural(
      curves.reduce((sum, c) => sum + c.present, 0),
      "sample",
    )}; how many to expect is not known${tail}`;
  }
  if (present >= expected)
    return `Complete: all ${count(expected)} expected samples are there${tail}`;
  return `${percent(present, expected)} complete: ${count(present)} of ${count(expected)} expected samples are there${tail}`;
}
