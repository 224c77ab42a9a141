import { useMemo } from "preact/hooks";
import type { Api } from "../api";
import type { Span } from "../span";
import { linesOf, StatisticsTable } from "./statistics-table";
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
  const lines = useMemo(() => linesOf(view.points, known), [view.points, known]);
  return (
    <StatisticsTable
      lines={lines}
      comparison={view.comparison}
      problem={known.problem}
      points={points.length}
    />
  );
}
