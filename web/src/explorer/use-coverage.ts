import { useEffect, useState } from "preact/hooks";
import type { Api, PlotAnswer } from "../api";
import { completeness } from "../series";
import { missingOf } from "../sources";
import type { Span } from "../span";
import { iso } from "./iso";

const settled = 500;
const leastPixels = 10;

/** Says how complete the points are within a window, as soon as it stands still. */
export function useCoverage(api: Api, points: readonly string[], [from, to]: Span): string {
  const [words, setWords] = useState("");
  // A live window is counted anew when it has moved by a hundredth
  const step = Math.max(1000, (to - from) / 100);
  const end = Math.ceil(to / step) * step;
  const begin = Math.round(end - (to - from));

  useEffect(() => {
    if (points.length === 0) {
      setWords("");
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      try {
        const counted = await count(api, points, [begin, end], stop.signal);
        setWords(`${completeness(counted.series)}. ${missingOf(counted.sources)}`.trim());
      } catch {
        // The curves say what is wrong; this only has nothing to add
        if (!stop.signal.aborted) setWords("");
      }
    }, settled);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, points, begin, end]);
  return words;
}

async function count(
  api: Api,
  points: readonly string[],
  [from, to]: Span,
  signal: AbortSignal,
): Promise<PlotAnswer> {
  const query = { point: points, from: iso(from), to: iso(to), pixels: leastPixels };
  return await api.get<PlotAnswer>("plot", query, signal);
}
