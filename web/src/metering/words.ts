import { fixed } from "../language/number";
// What metering screens say about readings, without drawing anything.

import { exact, span } from "../format";
import type {
  MeterArrival,
  MeterBill,
  MeterHour,
  MeterPeriod,
  MeterVersion,
  Time,
} from "../generated/api";

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
  return `${fixed(Math.min(99.99, percent), percent > 99 ? 2 : 1)} %`;
}

/** A local day as an input of a date has it. */
export function dayOf(ms: number): string {
  const d = new Date(ms);
  const two = (n: number) => String(n).padStart(2, "0");
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

/** The first moment of a local day, in milliseconds; NaN if it is none. */
export const startOf = (day: string) => new Date(`${day}T00:00:00`).getTime();

/** The local day behind a day. */
export function dayAfter(day: string): string {
  const at = new Date(startOf(day));
  at.setDate(at.getDate() + 1);
  return dayOf(at.getTime());
}

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

/** A part of the intervals of an hour. */
export interface Portion {
  key: "validated" | "raw" | "doubted" | "estimated" | "edited" | "missing";
  name: string;
}

/** The parts of an hour, from the bottom of its bar to the top. */
export const portions: readonly Portion[] = [
  { key: "validated", name: "validated" },
  { key: "raw", name: "not validated yet" },
  { key: "edited", name: "edited" },
  { key: "estimated", name: "estimated" },
  { key: "doubted", name: "doubted" },
  { key: "missing", name: "missing" },
];

/** An hour with the parts that its bar has: each interval counts once. */
export interface HourOf extends Record<Portion["key"], number> {
  /** Milliseconds. */
  from: number;
  expected: number;
}

/** The hours of a day. What nobody has judged, estimated or edited is raw, or missing. */
export function hoursOf(hours: readonly MeterHour[]): HourOf[] {
  return hours.map((h) => {
    const judged = h.validated + h.doubted + h.estimated + h.edited;
    const rest = Math.max(0, h.expected - judged);
    const received = Math.max(0, h.received - h.validated - h.doubted);
    const raw = Math.min(rest, received);
    return {
      from: Date.parse(h.from),
      expected: h.expected,
      ...{ validated: h.validated, doubted: h.doubted, estimated: h.estimated, edited: h.edited },
      ...{ raw, missing: rest - raw },
    };
  });
}

/** A point of the read-rate curve. */
export interface Rated {
  within: string;
  readings: number;
  expected: number;
}

/** How many of the expected readings came within which time. */
export const rateCurve = (arrived: readonly MeterArrival[], expected: number): Rated[] =>
  arrived.map((a) => ({ within: span(a.within * 1000), readings: a.readings, expected }));

/** The first moments of the local month before a moment and of the month behind it. */
export function monthOf(now: number): [number, number] {
  const at = new Date(now);
  return [
    new Date(at.getFullYear(), at.getMonth() - 1, 1).getTime(),
    new Date(at.getFullYear(), at.getMonth(), 1).getTime(),
  ];
}

/** What is asked of a bill, without what is left out. */
export function billQuery(f: {
  from: string;
  to: string;
  tariff: string;
  window: string;
  channel: string;
  export: string;
}): Record<string, string> {
  const all = {
    ...{ from: f.from, to: f.to, tariff: f.tariff.trim(), window: f.window },
    ...{ channel: f.channel, export: f.export },
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value));
}

/** A figure of a bill, as it is known now and was known then. */
export interface BillRow {
  period: string;
  name: string;
  unit: string;
  now: string;
  before: string;
  difference: string;
  differs: boolean;
  /** When a demand was reached. */
  at?: Time;
}

/** The figures of a bill, period by period. Counts that are zero then and now are left out. */
export function billRows(now: MeterBill, then?: MeterBill): BillRow[] {
  const out: BillRow[] = [];
  const before = new Map(then?.periods.map((p) => [p.period, p]));
  const names = [...now.periods, ...(then?.periods ?? [])].map((p) => p.period);
  for (const period of new Set(names)) {
    const a = now.periods.find((p) => p.period === period);
    const b = before.get(period);
    let first = true;
    for (const f of figures) {
      const [x, y] = [a && f.of(a), b && f.of(b)];
      if (f.count ? !x && !y : x === undefined && y === undefined) continue;
      const at = f.at && a && f.at(a);
      const row = { name: f.name, unit: f.unit(now.unit), ...rowOf(x, y, then !== undefined) };
      out.push({ period: first ? period : "", ...row, ...(at && { at }) });
      first = false;
    }
  }
  return out;
}

function rowOf(now: number | undefined, then: number | undefined, both: boolean) {
  const differs = both && now !== then;
  const by = (now ?? 0) - (then ?? 0);
  return {
    now: now === undefined ? "–" : figure(now),
    before: then === undefined ? "–" : figure(then),
    difference: differs ? `${by > 0 ? "+" : ""}${figure(by)}` : "",
    differs,
  };
}

/** A sum of readings, without the noise of its last digits. */
export const figure = (v: number) => exact(Number(v.toPrecision(12)));

const same = (unit: string) => unit;
const none = () => "";

interface Figure {
  name: string;
  of(p: MeterPeriod): number | undefined;
  unit(of: string): string;
  at?(p: MeterPeriod): Time | undefined;
  /** It is left out if it is 0. */
  count?: boolean;
}

const figures: readonly Figure[] = [
  { name: "Consumption", of: (p) => p.quantity, unit: same },
  {
    name: "Peak demand",
    of: (p) => (p.demand && p.demand.windows > 0 ? p.demand.demand : undefined),
    unit: (u) => (u.endsWith("h") ? u.slice(0, -1) : `${u}/h`),
    at: (p) => p.demand?.end,
  },
  { name: "Fed in", of: (p) => p.net?.export, unit: same },
  { name: "Net", of: (p) => p.net?.net, unit: same },
  { name: "Net import by interval", of: (p) => p.net?.netImport, unit: same },
  { name: "Net export by interval", of: (p) => p.net?.netExport, unit: same },
  { name: "Missing intervals", of: (p) => p.missing, unit: none, count: true },
  { name: "Estimated intervals", of: (p) => p.estimated, unit: none, count: true },
  { name: "Edited intervals", of: (p) => p.edited, unit: none, count: true },
];

/** The place in a list of an interval's versions of the one that counts: edited before rules, and those before raw. */
export function counting(versions: readonly Pick<MeterVersion, "stage">[]): number {
  const rank = { raw: 0, validated: 1, estimated: 1, edited: 2 };
  let best = -1;
  versions.forEach((v, i) => {
    const over = versions[best];
    if (!over || rank[v.stage] >= rank[over.stage]) best = i;
  });
  return best;
}
