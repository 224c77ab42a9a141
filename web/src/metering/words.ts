// What metering screens say about readings, without drawing anything.

import type { MeterVersion, Time } from "../generated/api";

/** What a reading is to a person: how far it can be relied on. */
export type ReadingState = "raw" | "validated" | "doubted" | "estimated" | "edited";

/** All readingStates, from the most to the least usual. */
export const readingStates: readonly ReadingState[] = [
  "validated",
  "raw",
  "doubted",
  "estimated",
  "edited",
];

/** What a state means. */
export const meaning: Record<ReadingState, string> = {
  validated: "validated",
  raw: "not validated yet",
  doubted: "doubted by validation",
  estimated: "estimated",
  edited: "edited by a person",
};

/** The state of a version. */
export function stateOf(v: Pick<MeterVersion, "stage" | "status">): ReadingState {
  if (v.status && (v.stage === "raw" || v.stage === "validated")) return "doubted";
  return v.stage;
}

/** Intervals that follow each other. */
export interface Stretch {
  /** Milliseconds: the end of the first interval. */
  from: number;
  /** Milliseconds: the end of the last one. */
  to: number;
  count: number;
}

/** The ends of intervals as stretches of those that follow each other at the smallest distance. */
export function stretches(ends: readonly Time[]): Stretch[] {
  const times = ends.map((e) => Date.parse(e)).sort((a, b) => a - b);
  const step = times
    .slice(1)
    .reduce((least, t, i) => Math.min(least, t - (times[i] ?? t)), Infinity);
  const out: Stretch[] = [];
  for (const t of times) {
    const last = out[out.length - 1];
    if (last && t - last.to === step) {
      last.to = t;
      last.count++;
    } else out.push({ from: t, to: t, count: 1 });
  }
  return out;
}

/** A share in words, which says "all" and "none" only if it is so. */
export function share(part: number, whole: number): string {
  if (whole === 0) return "none expected";
  if (part === whole) return "100 %";
  const percent = (100 * part) / whole;
  return `${Math.min(99.99, percent).toFixed(percent > 99 ? 2 : 1)} %`;
}

/** A local day as an input of a date has it. */
export function dayOf(ms: number): string {
  const d = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

/** The first moment of a local day, in milliseconds; NaN if it is none. */
export const startOf = (day: string) => new Date(`${day}T00:00:00`).getTime();

/** A reading that was known otherwise at another moment. */
export interface Change {
  end: Time;
  before: MeterVersion | undefined;
  now: MeterVersion | undefined;
}

/** What differs between two answers about one channel, by end of the interval. */
export function changes(old: readonly MeterVersion[], now: readonly MeterVersion[]): Change[] {
  const before = new Map(old.map((v) => [v.end, v]));
  const after = new Map(now.map((v) => [v.end, v]));
  const ends = [...new Set([...before.keys(), ...after.keys()])];
  return ends
    .sort((a, b) => Date.parse(a) - Date.parse(b))
    .map((end) => ({ end, before: before.get(end), now: after.get(end) }))
    .filter(({ before: a, now: b }) => a?.value !== b?.value || a?.stage !== b?.stage);
}

/** The parts of a curve that are in one state, as an SVG path of one bar for each interval. */
export function bars(
  list: readonly { from: number; to: number; value: number }[],
  x: (ms: number) => number,
  y: (value: number) => number,
): string {
  const zero = y(0);
  return list
    .map((b) => {
      const [left, right, top] = [x(b.from), x(b.to), y(b.value)];
      return `M${left.toFixed(1)} ${zero.toFixed(1)}V${top.toFixed(1)}H${right.toFixed(1)}V${zero.toFixed(1)}Z`;
    })
    .join("");
}

/** Round numbers from the least to the greatest value, about four of them. */
export function ticks(least: number, greatest: number): number[] {
  const width = greatest - least;
  if (!(width > 0)) return [least];
  const rough = width / 4;
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * unit).find((s) => s >= rough) ?? 10 * unit;
  const out: number[] = [];
  for (let n = Math.ceil(least / step); n * step <= greatest + step / 1e6; n++) {
    out.push(Number((n * step).toPrecision(12)));
  }
  return out;
}
