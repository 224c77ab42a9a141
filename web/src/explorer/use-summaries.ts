import { useEffect, useState } from "preact/hooks";
import type { Curve } from "../series";
import type { Span } from "../span";
import { wordsOf } from "../use-poll";
import { iso } from "./iso";
import type { Cell } from "./rows";
import { type Summary, summaryCells, summaryCurve } from "./summary";
import type { History, HistorySource } from "./use-history";
import type { ExplorerView } from "./view";

const settled = 200;
/** Wider than the window, so that a small move shows no empty edge. */
const margin = 0.25;

/** Curves of steps, and the same as cells of a table by point. */
export interface Summaries extends Omit<History, "expect"> {
  cells: ReadonlyMap<string, readonly Cell[]>;
}

const nothing: Summaries = { curves: [], version: 0, busy: false, problem: "", cells: new Map() };

/** The points of a view summarised by steps of the calendar of a zone. */
export function useSummaries(
  source: HistorySource,
  view: ExplorerView,
  [from, to]: Span,
  { shift, zone }: { shift: number; zone: string },
): Summaries {
  const { api, epoch } = source;
  const { points, step, figure } = view;
  const [state, setState] = useState<Summaries>(nothing);
  // A window that goes on by itself is asked anew when it has moved by a fiftieth
  const grid = Math.max(60_000, (to - from) / 50);
  const end = Math.ceil((to + (to - from) * margin) / grid) * grid;
  const begin = Math.floor(end - (to - from) * (1 + 2 * margin));

  // Another epoch asks anew
  useEffect(() => {
    if (step === "" || points.length === 0) {
      setState(nothing);
      return;
    }
    const stop = new AbortController();
    const ask = async (back: number): Promise<Summary[]> => {
      const query = {
        point: points,
        from: iso(begin - back),
        to: iso(end - back),
        step,
        zone,
        functions: figure,
      };
      return (await api.get<{ series: Summary[] }>("aggregate", query, stop.signal)).series;
    };
    setState((old) => ({ ...old, busy: true }));
    const timer = setTimeout(async () => {
      try {
        const now = await ask(0);
        const past = shift > 0 ? await ask(shift) : [];
        setState((old) => ({
          curves: [
            ...past.map((s, ink) => ghostOf(summaryCurve(s, figure), ink, shift)),
            ...now.map((s, ink) => ({ ...summaryCurve(s, figure), ink })),
          ],
          cells: new Map(now.map((s) => [s.point, summaryCells(s, figure)])),
          version: old.version + 1,
          busy: false,
          problem: "",
        }));
      } catch (err) {
        if (!stop.signal.aborted)
          setState((old) => ({ ...old, busy: false, problem: wordsOf(err) }));
      }
    }, settled);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, epoch, points, step, figure, begin, end, shift, zone]);
  return state;
}

const ghostOf = (curve: Curve, ink: number, shift: number): Curve => ({
  ...curve,
  ink,
  ghost: true,
  times: curve.times.map((t) => t + shift),
});
