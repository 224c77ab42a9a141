import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Api, Point } from "../api";
import type { LiveValues } from "../live";
import { append, type Curve, continueWith, numeric } from "../series";
import type { Span } from "../span";
import { compose } from "./compose";
import { Loader, type Wanted } from "./loader";
import { levelFor, type Run, TileCache, tilesOver } from "./tiles";

/** What the history of curves needs from around it. */
export interface HistorySource {
  api: Api;
  live: LiveValues;
  catalogue: ReadonlyMap<string, Point>;
  /** Counts up when everything must be asked again. */
  epoch: number;
}

/** What is looked at. */
export interface Look {
  points: readonly string[];
  window: Span;
  /** Width of the plot. */
  pixels: number;
  /** Milliseconds back to what stands behind for comparison, 0 for none. */
  shift: number;
  /** Whether the window ends now and goes on with live values. */
  isLive: boolean;
}

/** Curves of a look, ghosts behind the others; version changes with their content. */
export interface History {
  curves: readonly Curve[];
  version: number;
  /** Whether better is on its way. */
  busy: boolean;
  problem: string;
  /** Asks ahead for points that are about to be shown, in the same window. */
  expect(points: readonly string[]): void;
}

const askAgain = 5000;
/** Beyond so many curves nobody sees single pixels: the resolution is halved, and halved again. */
const halved = 16;
const halvedAgain = 48;

/** Draws from what is known at once, asks for what is missing, and goes on with live values. */
export function useHistory(source: HistorySource, look: Look): History {
  const { api, epoch } = source;
  const { points, window, pixels, shift } = look;
  // Another epoch asks for everything anew
  const cache = useMemo(() => new TileCache(), [api, epoch]);
  const loader = useMemo(() => new Loader(api, cache), [api, cache]);
  const { arrived, problem } = useArrivals(loader);
  const tick = useInterval(askAgain);

  const run = runOf(window, pixels, points.length);
  const past =
    shift > 0 ? runOf([window[0] - shift, window[1] - shift], pixels, points.length) : undefined;
  const key = `${run.level} ${run.first} ${run.last} ${past?.first} ${past?.last}`;
  // The key stands for both runs, the tick for what became old
  useEffect(() => {
    loader.want(wanted(points, run, past));
  }, [loader, points, key, tick]);

  const made = useComposed(source, look, { cache, loader, run, past, key, arrived });
  const version = useLive(source.live, look.isLive ? made : noCurves);
  const [from, to] = window;
  const expect = useCallback(
    (next: readonly string[]) => {
      if (next.length > 0) loader.hope({ ...runOf([from, to], pixels, next.length), points: next });
    },
    [loader, from, to, pixels],
  );
  return { curves: made, version, busy: loader.busy, problem, expect };
}

const noCurves: readonly Curve[] = [];

function runOf([from, to]: Span, pixels: number, curves: number): Run {
  const coarser = curves > halvedAgain ? 2 : curves > halved ? 1 : 0;
  const level = levelFor(to - from, pixels) + coarser;
  const [first, last] = tilesOver(level, from, to);
  return { level, first, last };
}

/** What is shown, then what it is compared with, then what may be shown next. */
function wanted(points: readonly string[], run: Run, past: Run | undefined): Wanted[] {
  const found: Wanted[] = [{ ...run, points }];
  if (past) found.push({ ...past, points });
  if (points.length > 0 && points.length <= halved) {
    const half = Math.ceil((run.last - run.first + 1) / 2);
    found.push({ ...run, points, first: run.first - half, last: run.first - 1, later: true });
    found.push({ ...run, points, first: run.last + 1, last: run.last + half, later: true });
  }
  return found;
}

function useArrivals(loader: Loader) {
  const [state, setState] = useState({ arrived: 0, problem: "" });
  useEffect(() => {
    loader.changed = (problem) => setState((old) => ({ arrived: old.arrived + 1, problem }));
    return () => {
      loader.changed = () => {};
      loader.stop();
    };
  }, [loader]);
  return state;
}

function useInterval(ms: number): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const timer = setInterval(() => document.hidden || setTick((n) => n + 1), ms);
    return () => clearInterval(timer);
  }, [ms]);
  return tick;
}

interface Parts {
  cache: TileCache;
  loader: Loader;
  run: Run;
  past: Run | undefined;
  key: string;
  arrived: number;
}

/** The curves made of what the cache has, again when tiles arrived. */
function useComposed(source: HistorySource, look: Look, parts: Parts): readonly Curve[] {
  const { points, shift, isLive } = look;
  const { cache, loader, run, past, key, arrived } = parts;
  const { catalogue } = source;
  const before = useRef<readonly Curve[]>([]);
  return useMemo(() => {
    const known = (path: string) =>
      catalogue.get(path) ?? {
        path,
        interval: 0,
        ...(loader.facts.get(path) ?? { unit: "", kind: "float" as const }),
      };
    const made = points.map((path, ink) => {
      const found = cache.find(path, run);
      const { curve } = compose(known(path), found);
      const old = isLive ? before.current.find((c) => c.point === path && !c.ghost) : undefined;
      return { ...continueWith(curve, old), ink, isWaiting: found.tiles.length === 0 };
    });
    before.current = made;
    if (!past) return made;
    const ghosts = points.map((path, ink) => {
      const { curve } = compose(known(path), cache.find(path, past));
      return { ...curve, ink, ghost: true, times: curve.times.map((t) => t + shift) };
    });
    return [...ghosts, ...made];
    // The key stands for both runs, arrived for the content of the cache
  }, [points, shift, isLive, cache, loader, catalogue, key, arrived]);
}

/** Appends live values to curves, and counts how often that changed anything. */
function useLive(live: LiveValues, curves: readonly Curve[]): number {
  const [version, setVersion] = useState(0);
  useEffect(() => {
    const follow = () => {
      let added = false;
      for (const curve of curves) {
        const last = curve.ghost ? undefined : live.get(curve.point);
        if (last && append(curve, last.time, numeric(last.value, last.quality))) added = true;
      }
      if (added) setVersion((n) => n + 1);
    };
    return curves.length === 0 ? undefined : live.listen(follow);
  }, [live, curves]);
  return version;
}
