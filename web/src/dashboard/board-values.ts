// What the tiles of a dashboard need from the node: facts of their points, live values, and small histories.

import { useCallback, useEffect, useMemo, useReducer, useRef } from "preact/hooks";
import type { Api, Point, PointPage } from "../api";
import type { DashboardTile } from "../generated/api";
import { useLastKnown } from "../last-known";
import { type Known, type Live, LiveValues } from "../live";
import { parentOf, patternFor } from "../path";
import { type Curve, curveOf } from "../series";
import { isStale } from "../site/tree";
import { usePoll } from "../use-poll";
import { useStream } from "../use-stream";

/** What tiles read from. */
export interface Source {
  api: Api;
  live: LiveValues;
  /** The points that there are; undefined until the first answer. */
  catalogue: ReadonlyMap<string, Point> | undefined;
  /** The last hours of points that stand alone. */
  sparks: ReadonlyMap<string, Curve>;
  epoch: number;
}

/** All points of tiles, each once. */
export function pointsOf(tiles: readonly DashboardTile[]): string[] {
  const found = tiles.flatMap((t) => [
    ...(t.points ?? []),
    ...(t.bindings ?? []).map((b) => b.point),
  ]);
  return [...new Set(found)].sort();
}

/** Fewer branches that hold all of a list: its own, or those above them until there are no more than so many. */
export function gathered(list: readonly string[], most: number): string[] {
  let found = [...new Set(list)];
  while (found.length > most) {
    const above = [...new Set(found.map(parentOf))];
    // What stands at the top has nothing above it but everything
    if (above.includes("")) return [""];
    found = above;
  }
  return found;
}

const mostBranches = 16;
const mostPatterns = 32;

/** What to ask the node for, to learn of points: their branches, or all if these are many. */
export const branchesFor = (points: readonly string[]) =>
  gathered(
    points.map((p) => parentOf(p) || p),
    mostBranches,
  );

const noCurves: ReadonlyMap<string, Curve> = new Map();

/** Brings what tiles show, for as long as the component stands. */
export function useSource(api: Api, tiles: readonly DashboardTile[], returns: number): Source {
  const live = useMemo(() => new LiveValues(), []);
  const key = pointsOf(tiles).join("\n");
  const points = useMemo(() => (key === "" ? [] : key.split("\n")), [key]);
  const streamed = useMemo(() => gathered(points, mostPatterns), [points]);
  const { epoch: reopened } = useStream(api, streamed, live);
  const epoch = returns + reopened;
  const catalogue = useCatalogue(api, points, live, epoch);
  useLastKnown(api, live, points);
  const single = tiles.filter((t) => t.kind === "value").flatMap((t) => t.points ?? []);
  const sparks = useSparks(api, single, catalogue, epoch);
  return useMemo(
    () => ({ api, live, catalogue, sparks, epoch }),
    [api, live, catalogue, sparks, epoch],
  );
}

/** Asks for the facts of points, and for values that no stream has brought yet. */
function useCatalogue(api: Api, points: readonly string[], live: LiveValues, epoch: number) {
  const known = useRef<ReadonlyMap<string, Point>>(new Map());
  const ask = useCallback(async () => {
    const at = api.now();
    const wanted = new Set(points);
    const found = new Map<string, Point>();
    await Promise.all(
      branchesFor(points).map(async (branch) => {
        const pattern = patternFor(branch);
        const [page, latest] = await Promise.all([
          api.get<PointPage>("points", { ...(branch ? { pattern } : {}), limit: 10_000 }),
          api.latest(pattern),
        ]);
        for (const p of page.points) if (wanted.has(p.path)) found.set(p.path, p);
        live.applyLatest(
          latest.filter((s) => wanted.has(s.point)),
          at,
        );
      }),
    );
    // What did not change keeps its identity, so that no history is asked for again
    const told = (of: ReadonlyMap<string, Point>) => JSON.stringify([...of].sort());
    if (told(found) !== told(known.current) || found.size === 0) known.current = found;
    return known.current;
  }, [api, points, live]);
  return usePoll(ask, 60_000, epoch).data;
}

const sparkMs = 6 * 3_600_000;
const mostSparks = 32;

/** The last six hours of points, coarse, asked again every five minutes. */
function useSparks(
  api: Api,
  points: readonly string[],
  catalogue: ReadonlyMap<string, Point> | undefined,
  epoch: number,
): ReadonlyMap<string, Curve> {
  const numbers = points.filter((p) => {
    const kind = catalogue?.get(p)?.kind;
    return kind === "float" || kind === "int";
  });
  const key = numbers.slice(0, mostSparks).join("\n");
  const ask = useCallback(async () => {
    if (key === "") return noCurves;
    const to = api.now();
    const answer = await api.plot(key.split("\n"), to - sparkMs, to, 60);
    const asked = { to, stepMs: sparkMs / 60, intervalMs: 0 };
    return new Map(answer.series.map((s) => [s.point, curveOf(s, asked)]));
  }, [api, key]);
  return usePoll(ask, 300_000, epoch).data ?? noCurves;
}

/** The newest value of a point, and how far it can be relied on. */
export interface Reading {
  path: string;
  point: Point | undefined;
  last: Live | undefined;
  /** The value that it had before its newest sample, which has none; undefined if it is not known, or not needed. */
  known: Known | undefined;
  /** The node knows no such point. */
  missing: boolean;
  stale: boolean;
}

function readingOf({ api, live, catalogue }: Source, path: string): Reading {
  const point = catalogue?.get(path);
  const last = live.get(path);
  const known = live.lastKnown(path);
  const missing = catalogue !== undefined && !point && !last;
  const stale = !!last && !!point && isStale(api.now() - last.time, point.interval * 1000);
  return { path, point, last, known, missing, stale };
}

const same = (a: readonly Reading[], b: readonly Reading[]) =>
  a.length === b.length &&
  a.every((r, i) => {
    const o = b[i];
    return (
      o &&
      r.path === o.path &&
      r.point === o.point &&
      r.last === o.last &&
      r.known === o.known &&
      r.stale === o.stale
    );
  });

/** The readings of points. Draws the caller again only when one of them changed, not with each pass. */
export function useReadings(source: Source, points: readonly string[]): readonly Reading[] {
  const [, again] = useReducer((n: number) => n + 1, 0);
  const readings = points.map((p) => readingOf(source, p));
  const shown = useRef(readings);
  shown.current = readings;
  const key = points.join("\n");
  // The key stands for the points
  useEffect(() => {
    const look = () => {
      const now = shown.current.map((r) => readingOf(source, r.path));
      if (!same(now, shown.current)) again(undefined as never);
    };
    const stop = source.live.listen(look);
    const timer = setInterval(look, 5000);
    return () => {
      stop();
      clearInterval(timer);
    };
  }, [source, key]);
  return readings;
}
