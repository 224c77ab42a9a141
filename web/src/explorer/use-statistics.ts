import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import type { Span } from "../span";
import { wordsOf } from "../use-poll";
import { iso } from "./iso";
import { asked, type Statistics, statisticsOf } from "./statistics";
import type { Summary } from "./summary";

const settled = 700;
/** Statistics of more points are no table that anybody reads, and much work for a node. */
export const mostSummed = 50;

/** The statistics of a point, with how complete it is. */
export interface Summed {
  statistics: Statistics;
  summary: Summary;
}

/** The statistics of points within a window, and within the one that it is compared with. */
export interface PointStatistics {
  now: ReadonlyMap<string, Summed>;
  before: ReadonlyMap<string, Summed>;
  window: Span;
  problem: string;
}

const nothing: PointStatistics = { now: new Map(), before: new Map(), window: [0, 0], problem: "" };

/** Asks for statistics as soon as the window stands still; of the first points only. */
export function useStatistics(
  api: Api,
  points: readonly string[],
  [from, to]: Span,
  shift: number,
): PointStatistics {
  const [state, setState] = useState(nothing);
  const step = Math.max(1000, (to - from) / 100);
  const end = Math.ceil(to / step) * step;
  const begin = Math.round(end - (to - from));
  useEffect(() => {
    if (points.length === 0) {
      setState(nothing);
      return;
    }
    const stop = new AbortController();
    const ask = async (back: number) => {
      const query = {
        point: points.slice(0, mostSummed),
        from: iso(begin - back),
        to: iso(end - back),
        step: `${Math.max(1, Math.ceil(end - begin))}ms`,
        functions: asked,
      };
      const answer = await api.get<{ series: Summary[] }>("aggregate", query, stop.signal);
      return new Map(
        answer.series.map((s) => [
          s.point,
          { summary: s, statistics: statisticsOf(s.buckets?.[0]) },
        ]),
      );
    };
    const timer = setTimeout(async () => {
      try {
        const now = await ask(0);
        const before = shift > 0 ? await ask(shift) : new Map<string, Summed>();
        setState({ now, before, window: [begin, end], problem: "" });
      } catch (err) {
        if (!stop.signal.aborted) setState({ ...nothing, problem: wordsOf(err) });
      }
    }, settled);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, points, begin, end, shift]);
  return state;
}
