import type { Point } from "../api";
import type { Stretch } from "../plot";
import { append, type Curve, emptyCurve } from "../series";
import type { Span } from "../span";
import { indexOf } from "./columns";
import type { Found } from "./tiles";

/** A curve that is made of tiles, with what it says about its completeness. */
export interface Composed {
  curve: Curve;
  /** Whether nothing better is on its way. */
  complete: boolean;
}

/** Makes one curve of the best tiles. Overlaps are impossible, so the times rise. */
export function compose(point: Pick<Point, "path" | "unit" | "kind" | "interval">, found: Found) {
  const step = Math.max(0, ...found.tiles.map((p) => (p.tile.exact ? 0 : p.step)));
  const intervalMs = point.interval * 1000;
  const curve: Curve = {
    ...emptyCurve(point.path, point.unit),
    kind: point.kind,
    gapMs: intervalMs > 0 ? 3 * Math.max(intervalMs, step) : 0,
  };
  const uncertain: Span[] = [];
  curve.uncertain = uncertain;
  for (const { tile, from, to } of found.tiles) {
    for (const [a, b] of tile.uncertain) {
      if (a < to && b >= from) uncertain.push([Math.max(a, from), Math.min(b, to)]);
    }
    for (let i = indexOf(tile.times, from); i < tile.times.length; i++) {
      const time = tile.times[i] ?? 0;
      if (time >= to) break;
      append(curve, time, tile.values[i] ?? null);
    }
  }
  return { curve, complete: found.complete } satisfies Composed;
}

/**
 * Where a curve has samples, and where they are bad. A missing value one millisecond behind a
 * sample is a gap that append made; any other one is a sample without a usable value.
 */
export function stretches(curve: Curve, from: number, to: number): Stretch[] {
  const found: Stretch[] = [];
  const { times, values } = curve;
  for (let i = 0; i < times.length; i++) {
    const begin = times[i] ?? 0;
    const next = times[i + 1];
    if (isGap(curve, i)) continue;
    const end = next === undefined ? begin : isGap(curve, i + 1) ? begin : next;
    if (Math.max(begin, end) < from || begin > to) continue;
    add(found, {
      from: Math.max(from, begin),
      to: Math.min(to, end),
      kind: values[i] === null ? "bad" : "good",
    });
  }
  return (curve.uncertain ?? []).reduce((all, span) => doubt(all, span), found);
}

/** Marks what lies within a span as uncertain, unless it is bad. */
function doubt(all: readonly Stretch[], [from, to]: Span): Stretch[] {
  return all.flatMap((s) => {
    if (s.kind !== "good" || s.to < from || s.from > to) return [s];
    const parts: Stretch[] = [
      { ...s, to: Math.max(s.from, from) },
      { from: Math.max(s.from, from), to: Math.min(s.to, to), kind: "uncertain" },
      { ...s, from: Math.min(s.to, to) },
    ];
    return parts.filter((p) => p.kind === "uncertain" || p.to > p.from);
  });
}

function isGap({ times, values, gapMs }: Curve, i: number): boolean {
  return gapMs > 0 && i > 0 && values[i] === null && (times[i] ?? 0) - (times[i - 1] ?? 0) === 1;
}

/** Joins what touches, so that a month of samples is a few stretches. */
function add(found: Stretch[], next: Stretch): void {
  const last = found.at(-1);
  if (last && last.kind === next.kind && next.from <= last.to) last.to = Math.max(last.to, next.to);
  else found.push(next);
}

/** What to shade behind curves: where none of them has a sample, and where one is bad. */
export function shadesOf(
  all: readonly (readonly Stretch[])[],
  from: number,
  to: number,
): Stretch[] {
  const some = all.filter((s) => s.length > 0);
  if (some.length === 0) return [];
  const bad = union(some.flatMap((s) => s.filter((x) => x.kind === "bad")));
  const covered = union(some.flat());
  const gaps: Stretch[] = [];
  covered.forEach((here, i) => {
    const next = covered[i + 1];
    if (next && here.to < next.from) gaps.push({ from: here.to, to: next.from, kind: "gap" });
  });
  const within = (s: { from: number; to: number }) => s.to > from && s.from < to;
  return [...gaps, ...bad.map((s) => ({ ...s, kind: "bad" as const }))].filter(within);
}

/** Stretches that cover the same time once, in order. */
function union(stretches: readonly Stretch[]): { from: number; to: number }[] {
  const sorted = [...stretches].sort((a, b) => a.from - b.from);
  const found: { from: number; to: number }[] = [];
  for (const { from, to } of sorted) {
    const last = found.at(-1);
    if (last && from <= last.to) last.to = Math.max(last.to, to);
    else found.push({ from, to });
  }
  return found;
}
