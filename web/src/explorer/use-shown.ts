import { useMemo } from "preact/hooks";
import type { Stretch } from "../plot";
import type { Curve } from "../series";
import type { Span } from "../span";
import { shadesOf, stretches } from "./compose";
import { differenceCurve } from "./difference";
import type { Known } from "./formula";
import type { Cell } from "./rows";
import { type Read, useComputed, useKnownPoints } from "./use-computed";
import { useCoverage } from "./use-coverage";
import { type HistorySource, useHistory } from "./use-history";
import { useSummaries } from "./use-summaries";
import { type ExplorerView, shiftOf } from "./view";

/** Everything that is drawn for a view. */
export interface Shown {
  /** Ghosts first, then the points, then what is derived of them. */
  curves: readonly Curve[];
  /** Those of them that come from the node. */
  loaded: readonly Curve[];
  /** How far points are from their ghosts, if the view wants to know. */
  differences: readonly Curve[];
  /** What formulas make of them, those of the compared time first. */
  computed: readonly Curve[];
  reads: readonly Read[];
  /** What formulas may name. */
  known: Known;
  /** Milliseconds back to what is compared. */
  shift: number;
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
  { pixels, zone }: { pixels: number; zone: string },
): Shown {
  const [from, to] = window;
  const { points, step } = view;
  const { catalogue } = source;
  const summed = step !== "";
  const shift = shiftOf(view.comparison, Math.round(from / 60_000) * 60_000, zone);
  const measured = useHistory(source, {
    points: summed ? noPoints : points,
    window,
    pixels,
    shift,
    isLive: to >= source.api.now() - 60_000,
  });
  const summaries = useSummaries(source, view, window, { shift, zone });
  const { curves: loaded, version, busy, problem } = summed ? summaries : measured;
  const known = useKnownPoints(points, loaded, catalogue);
  const first = points.length;
  const { curves: computed, reads } = useComputed(view.formulas, known, { loaded, version, first });
  const all = useMemo(() => [...loaded, ...computed], [loaded, computed]);
  const differences = useDifferences(all, version, view.difference);
  const curves = useMemo(() => [...all, ...differences], [all, differences]);
  const coverage = useCoverage(source.api, points, window);
  const lanes = useMemo(
    () => loaded.filter((c) => !c.ghost).map((c) => stretches(c, from, to)),
    // The version stands for the curves' content
    [loaded, version, from, to],
  );
  const shades = useMemo(
    () => (lanes.length > mostShaded ? [] : shadesOf(lanes, from, to)),
    [lanes, from, to],
  );
  const { cells } = summaries;
  const expect = summed ? expectNothing : measured.expect;
  return {
    curves,
    loaded,
    differences,
    computed,
    reads,
    known,
    shift,
    version,
    cells,
    busy,
    problem,
    coverage,
    lanes,
    shades,
    expect,
  };
}

/** How far curves are from their ghosts. */
function useDifferences(all: readonly Curve[], version: number, wanted: boolean) {
  return useMemo(() => {
    const ghosts = wanted ? all.filter((c) => c.ghost) : [];
    return ghosts.flatMap((ghost) => {
      const own = all.find((c) => !c.ghost && c.point === ghost.point);
      return own ? [differenceCurve(own, ghost)] : [];
    });
    // The version stands for the curves' content
  }, [all, version, wanted]);
}

const noPoints: readonly string[] = [];
const expectNothing = () => {};
