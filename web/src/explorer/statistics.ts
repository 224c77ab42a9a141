import { type Counted, type Curve, countedOf } from "../series";
import type { Span } from "../span";
import { differenceOf, hasShares, integralOf, parseUnit } from "./units";

/** What is known of the values of a stretch of time. */
export interface Statistics {
  count: number;
  mean: number | null;
  min: number | null;
  max: number | null;
  sum: number | null;
  stddev: number | null;
  p5: number | null;
  median: number | null;
  p95: number | null;
  /** The mean in which each value counts until the next one. */
  weighted: number | null;
}

/** What the node is asked for; the count comes with each answer. */
export const asked = "mean,min,max,sum,stddev,p5,median,p95,timeweighted";

/** Makes statistics of the only bucket of an answer. */
export function statisticsOf(
  bucket: { count: number; values?: Record<string, number | null> } | undefined,
): Statistics {
  const of = (name: string) => {
    const values = bucket?.values ?? {};
    return Object.hasOwn(values, name) ? (values[name] ?? null) : null;
  };
  const { count = 0 } = bucket ?? {};
  return {
    count,
    mean: of("mean"),
    min: of("min"),
    max: of("max"),
    sum: of("sum"),
    stddev: of("stddev"),
    p5: of("p5"),
    median: of("median"),
    p95: of("p95"),
    weighted: of("timeweighted"),
  };
}

/** The statistics of the drawn values of a curve within a span. */
export function statisticsOfCurve({ times, values }: Curve, span: Span): Statistics {
  const [from, to] = span;
  const own = values.filter((v, i): v is number => {
    const time = times[i] ?? 0;
    return v !== null && time >= from && time < to;
  });
  if (own.length === 0) return statisticsOf(undefined);
  const sorted = [...own].sort((a, b) => a - b);
  const sum = own.reduce((s, v) => s + v, 0);
  const mean = sum / own.length;
  const squares = own.reduce((s, v) => s + (v - mean) ** 2, 0);
  const [area, covered] = areaOf(times, values, span);
  return {
    count: own.length,
    mean,
    min: sorted[0] ?? null,
    max: sorted.at(-1) ?? null,
    sum,
    stddev: own.length > 1 ? Math.sqrt(squares / (own.length - 1)) : null,
    p5: percentileOf(sorted, 0.05),
    median: percentileOf(sorted, 0.5),
    p95: percentileOf(sorted, 0.95),
    weighted: covered > 0 ? area / covered : null,
  };
}

/** A percentile of sorted values, interpolated between two. */
export function percentileOf(sorted: readonly number[], share: number): number | null {
  const at = (sorted.length - 1) * share;
  const low = sorted[Math.floor(at)];
  const high = sorted[Math.ceil(at)];
  if (low === undefined || high === undefined) return null;
  return low + (high - low) * (at - Math.floor(at));
}

/** The area below a curve within bounds, and the time that it covers; each value holds until the next one. */
function areaOf(
  times: readonly number[],
  values: readonly (number | null)[],
  [from, to]: Span,
): [area: number, covered: number] {
  let area = 0;
  let covered = 0;
  times.forEach((time, i) => {
    const value = values[i];
    const end = Math.min(to, times[i + 1] ?? time);
    const begin = Math.max(from, time);
    if (value === null || value === undefined || end <= begin) return;
    area += value * (end - begin);
    covered += end - begin;
  });
  return [area, covered];
}

/** An integral over time, such as the energy of a power. */
export interface Integral {
  value: number;
  unit: string;
}

/**
 * The integral over a span: the weighted mean times the hours that have samples. Undefined where it
 * means nothing, as for temperatures, or where it is not known how much of the span has samples.
 */
export function integral(
  s: Statistics,
  unit: string,
  span: Span,
  counted: Counted | undefined,
): Integral | undefined {
  const u = parseUnit(unit);
  if (s.weighted === null || u.zero !== undefined || !isRate(unit)) return undefined;
  const expected = counted?.expected ?? 0;
  if (!counted || expected <= 0) return undefined;
  const hours = ((span[1] - span[0]) / 3_600_000) * Math.min(1, countedOf(counted) / expected);
  const { unit: over, factor } = integralOf(u);
  return { value: s.weighted * hours * factor, unit: over.name };
}

/** Whether a unit is one of something in a time, so that its integral is of use. */
function isRate(unit: string): boolean {
  const { dims } = parseUnit(unit);
  if (Object.keys(dims).length === 1 && dims.s === -1) return false; // a frequency
  const power = dims.kg === 1 && dims.m === 2 && dims.s === -3 && dims.A === undefined;
  return power || (dims.s ?? 0) === -1 || dims.var === 1 || dims.VA === 1 || dims.A === 1;
}

/** How far one mean is from another. */
export interface Change {
  value: number;
  unit: string;
  /** Of what it was before; undefined where shares mean nothing. */
  share: number | undefined;
}

/** The difference of two means. */
export function changeOf(
  now: number | null,
  then: number | null,
  unit: string,
): Change | undefined {
  if (now === null || then === null) return undefined;
  const u = parseUnit(unit);
  const value = now - then;
  return {
    value,
    unit: differenceOf(u).name,
    share: hasShares(u) && then !== 0 ? value / Math.abs(then) : undefined,
  };
}
