// Other pictures of curves: hours by days, one against another, and how long which value lasts.

import { type Curve, indexAfter } from "../series";
import type { Span } from "../span";
import { addDays, type Day, dayNumber, localOf } from "../zone";

/** A value for each hour of each day; null where there is none. */
export interface Heat {
  days: Day[];
  /** In the order of the days, each with 24 hours. */
  hours: (number | null)[][];
  low: number;
  high: number;
}

const mostDays = 1100;

/** The mean of a curve of steps in each hour of the clock of a zone. */
export function heatOf(curve: Curve, [from, to]: Span, zone: string): Heat {
  const first = localOf(from, zone);
  const last = localOf(Math.max(from, to - 1), zone);
  const many = Math.min(mostDays, dayNumber(last) - dayNumber(first) + 1);
  const days = Array.from({ length: many }, (_, i) => addDays(first, i));
  const sums = days.map(() => new Array<number>(24).fill(0));
  const counts = days.map(() => new Array<number>(24).fill(0));
  curve.times.forEach((time, i) => {
    const value = curve.values[i];
    if (time < from || time >= to || value === null || value === undefined) return;
    const at = localOf(time, zone);
    const row = dayNumber(at) - dayNumber(first);
    const [sum, count] = [sums[row], counts[row]];
    if (!sum || !count) return;
    sum[at.hour] = (sum[at.hour] ?? 0) + value;
    count[at.hour] = (count[at.hour] ?? 0) + 1;
  });
  const hours = sums.map((row, d) =>
    row.map((sum, h) => {
      const n = counts[d]?.[h] ?? 0;
      return n > 0 ? sum / n : null;
    }),
  );
  const [low, high] = boundsOf(hours.flat());
  return { days, hours, low, high };
}

/** The least and the greatest of values; 0 and 1 of none. */
export function boundsOf(values: readonly (number | null)[]): Span {
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const v of values) {
    if (v === null) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return low <= high ? [low, high] : [0, 1];
}

/** A dot of one value against another at the same time. */
export interface Dot {
  x: number;
  y: number;
  time: number;
}

/** Pairs of values: those of x, and what y is at their times. */
export function dotsOf(x: Curve, y: Curve, [from, to]: Span): Dot[] {
  const dots: Dot[] = [];
  let i = indexAfter(y, (x.times[0] ?? 0) - 1);
  x.times.forEach((time, k) => {
    while (i < y.times.length && (y.times[i] ?? 0) <= time) i++;
    const [a, b] = [x.values[k], i === 0 ? null : y.values[i - 1]];
    if (time < from || time >= to || typeof a !== "number" || typeof b !== "number") return;
    dots.push({ x: a, y: b, time });
  });
  return dots;
}

/** A line through dots by least squares, and how much of the variance of y it explains. */
export interface Regression {
  slope: number;
  intercept: number;
  r2: number;
}

/** The regression of y on x; undefined for fewer than three dots, or if all have the same x. */
export function regressionOf(dots: readonly Dot[]): Regression | undefined {
  const n = dots.length;
  if (n < 3) return undefined;
  const mx = dots.reduce((s, d) => s + d.x, 0) / n;
  const my = dots.reduce((s, d) => s + d.y, 0) / n;
  let [xx, xy, yy] = [0, 0, 0];
  for (const { x, y } of dots) {
    xx += (x - mx) ** 2;
    xy += (x - mx) * (y - my);
    yy += (y - my) ** 2;
  }
  if (xx === 0) return undefined;
  const slope = xy / xx;
  return { slope, intercept: my - slope * mx, r2: yy === 0 ? 1 : xy ** 2 / (xx * yy) };
}

/** How long values last: the greatest first, each with the share of the time in which it is reached or exceeded. */
export interface Lasting {
  /** Shares from 0 to 1 at which each value ends. */
  shares: number[];
  values: number[];
  /** Milliseconds that have values. */
  covered: number;
}

/** The duration curve within a window: each value lasts until the next one. */
export function lastingOf({ times, values }: Curve, [from, to]: Span): Lasting {
  const parts: { value: number; ms: number }[] = [];
  times.forEach((time, i) => {
    const value = values[i];
    const ms = Math.min(to, times[i + 1] ?? time) - Math.max(from, time);
    if (typeof value === "number" && ms > 0) parts.push({ value, ms });
  });
  parts.sort((a, b) => b.value - a.value);
  const covered = parts.reduce((sum, p) => sum + p.ms, 0);
  let at = 0;
  const shares = parts.map((p) => {
    at += p.ms;
    return at / covered;
  });
  return { shares, values: parts.map((p) => p.value), covered };
}

/** Round figures between two bounds, about so many. */
export function ticksOf([low, high]: Span, about: number): number[] {
  const width = high - low;
  if (!(width > 0) || !Number.isFinite(width)) return [low];
  const rough = width / Math.max(1, about);
  const size = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * size).find((s) => s >= rough) ?? 10 * size;
  const ticks: number[] = [];
  for (let n = Math.ceil(low / step); n * step <= high + step * 1e-9; n++) {
    ticks.push(Number((n * step).toPrecision(12)));
  }
  return ticks;
}
