// What is shown as one wide table: a row for each time, a column for each series.

import { type Curve, indexAfter } from "../series";
import type { Span } from "../span";

/** What a column holds of its point. */
export type Role = "value" | "before" | "difference" | "computed";

/** A column of numbers; null where there is none. */
export interface Column {
  /** The path of the point, or the formula. */
  name: string;
  role: Role;
  unit: string;
  values: (number | null)[];
}

/** Columns with the times that they share, in milliseconds since 1970. */
export interface Frame {
  times: number[];
  columns: Column[];
}

/** The series of a frame. */
export interface Series {
  role: Role;
  curve: Curve;
}

/**
 * Puts series side by side. The rows are the times of the points and the formulas; what they are
 * compared with, and the difference, stand beside each point at its times.
 */
export function frameOf(series: readonly Series[], [from, to]: Span): Frame {
  const own = series.filter(({ role }) => role === "value" || role === "computed");
  const times = new Set<number>();
  for (const { curve } of own) {
    curve.times.forEach((time, i) => {
      if (time >= from && time < to && curve.values[i] !== null) times.add(time);
    });
  }
  const rows = [...times].sort((a, b) => a - b);
  const columns = series.map(({ role, curve }) => ({
    name: curve.point,
    role,
    unit: curve.unit,
    values: role === "before" ? held(curve, rows) : exactly(curve, rows),
  }));
  return { times: rows, columns };
}

/** The values at times at which there is a sample. */
function exactly({ times, values }: Curve, rows: readonly number[]): (number | null)[] {
  let i = 0;
  return rows.map((time) => {
    while (i < times.length && (times[i] ?? 0) < time) i++;
    return times[i] === time ? (values[i] ?? null) : null;
  });
}

/** The values that hold at times. */
function held(curve: Curve, rows: readonly number[]): (number | null)[] {
  let i = indexAfter(curve, (rows[0] ?? 0) - 1);
  return rows.map((time) => {
    while (i < curve.times.length && (curve.times[i] ?? 0) <= time) i++;
    return i === 0 ? null : (curve.values[i - 1] ?? null);
  });
}
