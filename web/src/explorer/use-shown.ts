import { useMemo } from "preact/hooks";
import type { Stretch } from "../plot";
import type { Curve } from "../series";
import type { Span } from "../span";
import { shadesOf, stretches } from "./compose";
import type { Cell } from "./rows";
import { useCoverage } from "./use-coverage";
import { type HistorySource, useHistory } from "./use-history";
import { useSummaries } from "./use-summaries";
import { type ExplorerView, shiftOf } from "./view";

/** Everything that is drawn for a view. */
export interface Shown {
  /** Ghosts first. */
  curves: readonly Curve[];
  version: number;
  shades: readonly Stretch[];
  /** For each curve that is no ghost, where it has samples. */
  lanes: readonly (readonly Stretch[])[];
  /** The figures of steps by point, if the view is one of steps. */
  cells: ReadonlyMap<string, readonly Cell[]>;
  busy: boolean;
  problem: string;
  /** Completeness in words, "" while it is not known. */
  coverage: string;
  /** Asks ahead for points that are about to be shown. */
  expect(points: readonly string[]): void;
}

/** Stretches of more curves would hide each other. */
const mostShaded = 8;

/** The curves of a view: measured, or summarised by steps of the calendar. */
export function useShown(
  source: HistorySource,
  view: ExplorerView,
  window: Span,
  pixels: number,
): Shown {
  const [from, to] = window;
  const { points, step } = view;
  const summed = step !== "";
  const shift = shiftOf(view.comparison, Math.round(from / 60_000) * 60_000);
  const measured = useHistory(source, {
    points: summed ? noPoints : points,
    window,
    pixels,
    shift,
    isLive: to >= source.api.now() - 60_000,
  });
  const summaries = useSummaries(source, view, window, shift);
  const { curves, version, busy, problem } = summed ? summaries : measured;
  const coverage = useCoverage(source.api, points, window);
  const lanes = useMemo(
    () => curves.filter((c) => !c.ghost).map((c) => stretches(c, from, to)),
    // The version stands for the curves' content
    [curves, version, from, to],
  );
  const shades = useMemo(
    () => (lanes.length > mostShaded ? [] : shadesOf(lanes, from, to)),
    [lanes, from, to],
  );
  const { cells } = summaries;
  const expect = summed ? expectNothing : measured.expect;
  return { curves, version, cells, busy, problem, coverage, lanes, shades, expect };
}

const noPoints: readonly string[] = [];
const expectNothing = () => {};
