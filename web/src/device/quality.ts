import type { Point } from "../api";
import { qualityName, reasonFor } from "../format";
import type { Live } from "../live";
import { isStale } from "../site/tree";

/** Points that share a quality, and what it means. */
export interface Concern {
  level: "warn" | "bad";
  points: string[];
  words: string;
}

/** Why points of a device cannot be relied on, in words; points that are good are left out. */
export function concerns(
  points: readonly Point[],
  read: (path: string) => Live | undefined,
  now: number,
): Concern[] {
  const found = new Map<string, Concern>();
  for (const point of points) {
    const told = concernOf(point, read(point.path), now);
    if (!told) continue;
    const same = found.get(told.words);
    if (same) same.points.push(point.path);
    else found.set(told.words, { ...told, points: [point.path] });
  }
  return [...found.values()].sort((a, b) => (a.level < b.level ? -1 : 1));
}

function concernOf(point: Point, last: Live | undefined, now: number) {
  if (!last) return { level: "warn" as const, words: "no value came yet" };
  if (isStale(now - last.time, point.interval * 1000)) {
    return { level: "warn" as const, words: "no new value came when one was due" };
  }
  if (last.quality === "good" || last.quality === "released") return undefined;
  const level = last.quality.startsWith("bad") ? ("bad" as const) : ("warn" as const);
  return { level, words: reasonFor(last.quality) || qualityName(last.quality) };
}
