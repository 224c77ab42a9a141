import { useMemo } from "preact/hooks";
import type { Point } from "../api";
import type { Curve } from "../series";
import { computedCurve, knownOf } from "./computed";
import { type Formula, FormulaError, type Known, parseFormula } from "./formula";

/** A formula of a view: read, or what is wrong with it. */
export interface Read {
  text: string;
  formula?: Formula;
  problem?: FormulaError;
}

/** What formulas may name while points are shown; units are those of the loaded curves. */
export function useKnownPoints(
  points: readonly string[],
  loaded: readonly Curve[],
  catalogue: ReadonlyMap<string, Point>,
): Known {
  const units = loaded.filter((c) => !c.ghost).map((c) => `${c.point}\n${c.unit}`);
  // The units stand for the curves
  return useMemo(() => {
    const found = new Map(loaded.filter((c) => !c.ghost).map((c) => [c.point, c.unit]));
    return knownOf(points, (path) => found.get(path) ?? catalogue.get(path)?.unit ?? "");
  }, [points, catalogue, units.join("\n")]);
}

/** Reads a formula, without throwing. */
export function readFormula(text: string, known: Known): Read {
  try {
    return { text, formula: parseFormula(text, known) };
  } catch (err) {
    if (err instanceof FormulaError) return { text, problem: err };
    throw err;
  }
}

/** The curves of formulas, those of the compared time first. */
export interface Computed {
  curves: readonly Curve[];
  reads: readonly Read[];
}

/** Evaluates the formulas of a view over its loaded curves. */
export function useComputed(
  formulas: readonly string[],
  known: Known,
  { loaded, version, first }: { loaded: readonly Curve[]; version: number; first: number },
): Computed {
  const reads = useMemo(() => formulas.map((f) => readFormula(f, known)), [formulas, known]);
  // The version stands for the curves' content
  const curves = useMemo(() => {
    const of = (ghost: boolean) => {
      const inputs = loaded.filter((c) => (c.ghost ?? false) === ghost);
      return reads.flatMap(({ formula }, i) => {
        if (!formula || inputs.length === 0) return [];
        const curve = { ...computedCurve(formula, inputs), ink: first + i };
        return [ghost ? { ...curve, ghost } : curve];
      });
    };
    return [...of(true), ...of(false)];
  }, [reads, loaded, version, first]);
  return { curves, reads };
}
