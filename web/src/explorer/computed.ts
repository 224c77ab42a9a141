// Curves of formulas, and what formulas may name while points are shown.

import { type Curve, emptyCurve } from "../series";
import type { Evaluate, Formula, Known, Row } from "./formula";

/** Evaluates a formula over the curves of its points, at all times at which one of them has a sample. */
export function computedCurve(formula: Formula, curves: readonly Curve[]): Curve {
  const inputs = formula.points.map((path) => curves.find((c) => c.point === path));
  const there = inputs.filter((c): c is Curve => c !== undefined);
  const curve: Curve = {
    ...emptyCurve(formula.text, formula.unit.name),
    stepped: there.length > 0 && there.every((c) => c.stepped || c.kind === "bool"),
  };
  if (there.length < inputs.length || there.length === 0) return curve;
  walk(there, formula.evaluate(), curve);
  return curve;
}

function walk(inputs: readonly Curve[], evaluate: Evaluate, into: Curve): void {
  const at = inputs.map(() => 0);
  const row: Row = inputs.map(() => null);
  for (;;) {
    let time = Number.POSITIVE_INFINITY;
    inputs.forEach((c, i) => {
      time = Math.min(time, c.times[at[i] ?? 0] ?? Number.POSITIVE_INFINITY);
    });
    if (time === Number.POSITIVE_INFINITY) return;
    inputs.forEach((c, i) => {
      while ((c.times[at[i] ?? 0] ?? Number.POSITIVE_INFINITY) <= time) {
        row[i] = c.values[at[i] ?? 0] ?? null;
        at[i] = (at[i] ?? 0) + 1;
      }
    });
    const value = evaluate(row, time);
    into.times.push(time);
    into.values.push(value !== null && Number.isFinite(value) ? value : null);
  }
}

/** The letter of the n-th shown point: A to Z, then P27, P28 and so on. */
export const letterOf = (n: number) => (n < 26 ? String.fromCharCode(65 + n) : `P${n + 1}`);

/** What a formula may name while points are shown. */
export function knownOf(points: readonly string[], unitOf: (path: string) => string): Known {
  const shown = new Set(points);
  const letters = new Map(points.map((path, i) => [letterOf(i), path]));
  return {
    letter: (name) => letters.get(name),
    unitOf: (path) => (shown.has(path) ? unitOf(path) : undefined),
  };
}
