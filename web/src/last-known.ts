// The last value of points that have none now, because their device does not answer: the history knows it.

import { useEffect, useRef } from "preact/hooks";
import type { Api } from "./api";
import { dateTime, qualityName } from "./format";
import type { Bucket, Range, Summary, Tuple } from "./generated/api";
import type { Known, LiveValues } from "./live";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** How far back the last value is looked for. */
export const farthest = 30 * DAY;

/** How long the steps are in which it is looked for: each finds the part for the next. */
const steps = [
  { step: "1d", ms: DAY },
  { step: "1h", ms: HOUR },
  { step: "1m", ms: MINUTE },
] as const;

/** How many points are looked for at once. */
const atOnce = 50;

const iso = (ms: number) => new Date(ms).toISOString();

/** The last part of a summary that has values. */
export const lastWith = (buckets: readonly Bucket[]): Bucket | undefined =>
  buckets.findLast((b) => b.count > 0);

/** The last of the samples that has a value, and when. */
export function lastValue(samples: readonly Tuple[]): Known | undefined {
  const last = samples.findLast(([, value]) => value !== null);
  return last && { time: last[0], value: last[1] };
}

/** The last values of points in the last thirty days; those that had none are left out. */
export async function lastKnown(
  api: Api,
  points: readonly string[],
  now: number,
): Promise<Map<string, Known>> {
  // Points of one device fell silent together: they are asked for together
  let groups = new Map([[now - farthest, { to: now, points: [...points] }]]);
  for (const { step, ms } of steps) {
    const next = new Map<number, { to: number; points: string[] }>();
    for (const [from, { to, points: some }] of groups) {
      const query = { point: some, from: iso(from), to: iso(to), step };
      const { series } = await api.get<{ series: Summary[] }>("aggregate", query);
      for (const s of series) {
        const last = lastWith(s.buckets);
        if (!last) continue;
        const start = Date.parse(last.start);
        const group = next.get(start) ?? { to: Math.min(now, start + ms), points: [] };
        group.points.push(s.point);
        next.set(start, group);
      }
    }
    groups = next;
  }
  const found = new Map<string, Known>();
  for (const [from, { to, points: some }] of groups) {
    const query = { point: some, from: iso(from), to: iso(to) };
    const { series } = await api.get<Range>("range", query);
    for (const s of series) {
      const known = lastValue(s.samples);
      if (known) found.set(s.point, known);
    }
  }
  return found;
}

/** Looks for the last values of those of the points that lack one, each point once. */
export function useLastKnown(api: Api, live: LiveValues, points: readonly string[]): void {
  const asked = useRef(new Set<string>());
  useEffect(() => {
    let left = false;
    const look = async () => {
      const wanted = points
        .filter((p) => live.lacksValue(p) && !asked.current.has(p))
        .slice(0, atOnce);
      if (wanted.length === 0) return;
      for (const p of wanted) asked.current.add(p);
      try {
        for (const [path, known] of await lastKnown(api, wanted, api.now()))
          if (!left) live.applyKnown(path, known);
      } catch {
        for (const p of wanted) asked.current.delete(p); // the node was away; the next look asks again
      }
    };
    const timer = setInterval(() => void look(), 2000);
    void look();
    return () => {
      left = true;
      clearInterval(timer);
    };
  }, [api, live, points]);
}

/** Why a point has no value now, and when it had the one that is shown. */
export const knownWords = (quality: string, known: Known) => {
  const why = /unreachable|timeout/.test(quality) ? "offline" : qualityName(quality);
  return `${why}, last known ${dateTime(known.time)}`;
};
