import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Api, Point } from "./api";
import type { LiveValues } from "./live";
import { append, type Curve, continueWith, curveOf, numeric } from "./series";
import { missingOf } from "./sources";
import { usePoll } from "./use-poll";
import { bounds, type View } from "./view";

/** What the plot needs from around it. */
export interface CurveSource {
  api: Api;
  live: LiveValues;
  catalogue: ReadonlyMap<string, Point>;
  /** Counts up when the history must be asked again, because live values were missed. */
  epoch: number;
  /** Width of the plot. */
  pixels: number;
}

/** The curves of a view; version changes with their content. */
export interface Curves {
  curves: readonly Curve[];
  version: number;
  problem: string;
  /** Because of which nodes something is missing, in words; "" for none. */
  missing: string;
}

/** Asks the history for the view's points, goes on with live values, and asks again now and then. */
export function useCurves(source: CurveSource, view: View): Curves {
  const { api, live, catalogue, epoch, pixels } = source;
  const { points, range } = view;
  const isLive = "last" in range;
  const kept = useRef<readonly Curve[]>([]);
  const [version, setVersion] = useState(0);

  const ask = useCallback(async () => {
    if (points.length === 0) return { curves: [], missing: "" };
    const [from, to] = bounds(range, api.now());
    const answer = await api.plot(points, from, to, pixels);
    const stepMs = (to - from) / pixels;
    const intervalOf = (path: string) => (catalogue.get(path)?.interval ?? 0) * 1000;
    const curves = answer.series.map((s) =>
      curveOf(s, { to, stepMs, intervalMs: intervalOf(s.point) }),
    );
    return { curves, missing: missingOf(answer.sources) };
  }, [api, points, range, pixels, catalogue]);
  const polled = usePoll(ask, refreshEvery(isLive ? range.last : 0), epoch);

  useEffect(() => {
    const fresh = polled.data?.curves ?? [];
    const old = kept.current;
    kept.current = isLive
      ? fresh.map((c) =>
          continueWith(
            c,
            old.find((o) => o.point === c.point),
          ),
        )
      : fresh;
    setVersion((n) => n + 1);
  }, [polled.data, isLive]);

  useEffect(() => {
    if (!isLive) return;
    return live.listen(() => {
      const added = kept.current.map((curve) => {
        const last = live.get(curve.point);
        return last !== undefined && append(curve, last.time, numeric(last.value, last.quality));
      });
      if (added.includes(true)) setVersion((n) => n + 1);
    });
  }, [live, isLive]);

  return {
    curves: kept.current,
    version,
    problem: polled.problem,
    missing: polled.data?.missing ?? "",
  };
}

/** Often for short ranges, where an answer is cheap; each minute for ranges that stand still. */
const refreshEvery = (lastMs: number) =>
  lastMs === 0 ? 60_000 : Math.min(300_000, Math.max(15_000, lastMs / 60));
