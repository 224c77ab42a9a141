import { useMemo } from "preact/hooks";
import type { Api } from "../api";
import type { Span } from "../span";
import { computedLines, linesOf, StatisticsTable } from "./statistics-table";
import type { Shown } from "./use-shown";
import { useStatistics } from "./use-statistics";
import type { ExplorerView } from "./view";

interface Props {
  api: Api;
  view: ExplorerView;
  /** Those that the node knows. */
  points: readonly string[];
  window: Span;
  shown: Shown;
}

/** The statistics of what is shown. */
export function StatisticsSection({ api, view, points, window, shown }: Props) {
  const known = useStatistics(api, points, window, shown.shift);
  // Settled like the figures of the node, so that a live window does not work for nothing
  const [from, to] = known.window;
  const lines = useMemo(
    () => [...linesOf(view.points, known), ...computedLines(shown.computed, [from, to])],
    [view.points, known, shown.computed, from, to],
  );
  return (
    <StatisticsTable
      lines={lines}
      comparison={view.comparison}
      problem={known.problem}
      points={points.length}
    />
  );
}
