import { shortTime } from "../format";
import type { ControlHolder, ControlTask, ControlWindow } from "../generated/api";

/** A window on the schedule, in milliseconds. */
export interface Bar {
  task: string;
  requester: string;
  path: string;
  from: number;
  to: number;
  is: "active" | "planned" | "ends" | "wanted";
  /** It stands in the way of what is wanted. */
  clashes: boolean;
}

/** The windows of one path. */
export interface GanttRow {
  path: string;
  bars: Bar[];
}

/** What somebody wants to reserve, and who stands in the way. */
export interface Wanted {
  windows: readonly ControlWindow[];
  holders: readonly ControlHolder[];
}

const hour = 3_600_000;
const day = 24 * hour;

/** The rows of a span of time by path, so that a branch stands above what lies below it. */
export function ganttRows(
  tasks: readonly ControlTask[],
  [from, to]: readonly [number, number],
  wanted?: Wanted,
): GanttRow[] {
  const bars = tasks.flatMap((t) => t.windows.map((w) => barOf(t, w, wanted?.holders ?? [])));
  for (const w of wanted?.windows ?? []) {
    const begin = w.from ? Date.parse(w.from) : from;
    const name = { task: "wanted", requester: "", is: "wanted", clashes: false } as const;
    bars.push({ ...name, path: w.path, from: begin, to: Date.parse(w.to) });
  }
  const rows = new Map<string, Bar[]>();
  for (const bar of bars) {
    if (bar.to <= from || bar.from >= to) continue;
    rows.set(bar.path, [...(rows.get(bar.path) ?? []), bar]);
  }
  return [...rows]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([path, list]) => ({ path, bars: list.sort((a, b) => a.from - b.from) }));
}

function barOf(task: ControlTask, w: ControlWindow, holders: readonly ControlHolder[]): Bar {
  const from = Date.parse(w.from ?? "");
  const begun = task.active.some((a) => a.path === w.path && a.from === w.from);
  const clashes = holders.some(
    (h) => h.task === task.task && h.path === w.path && Date.parse(h.from ?? "") === from,
  );
  return {
    task: task.task,
    requester: task.requester,
    path: w.path,
    from,
    to: Date.parse(w.to),
    is: task.preempted ? "ends" : begun ? "active" : "planned",
    clashes,
  };
}

/** Where something is drawn, in pixels; clipped to the span. */
export function place(
  { from, to }: { from: number; to: number },
  [begin, end]: readonly [number, number],
  width: number,
): { x: number; width: number } {
  const at = (ms: number) => ((Math.min(end, Math.max(begin, ms)) - begin) / (end - begin)) * width;
  return { x: at(from), width: Math.max(3, at(to) - at(from)) };
}

const steps = [0.5, 1, 2, 3, 4, 6, 12, 24, 48, 7 * 24].map((h) => h * hour);

/** A mark of the time axis. */
export interface Tick {
  at: number;
  label: string;
}

/** Marks at round local times, no closer than their labels need. */
export function ticks([from, to]: readonly [number, number], width: number): Tick[] {
  const least = ((to - from) * 64) / Math.max(1, width);
  const step = steps.find((s) => s >= least) ?? 14 * day;
  const midnight = new Date(from).setHours(0, 0, 0, 0);
  const found: Tick[] = [];
  for (let at = midnight; at < to; at += step) {
    // The clock may have been set since midnight
    const shift = new Date(at).getTimezoneOffset() - new Date(midnight).getTimezoneOffset();
    const local = at + shift * 60_000;
    if (local >= from) found.push({ at: local, label: labelOf(local, step) });
  }
  return found;
}

function labelOf(ms: number, step: number): string {
  const text = shortTime(ms);
  return step >= day || text.endsWith("00:00") ? text.slice(0, -6) : text.slice(-5);
}

/** The days that are shown: from local midnight, as the address says. */
export function daysOf(search: string, now: number): { from: number; to: number; days: number } {
  const params = new URLSearchParams(search);
  const asked = /^\d{4}-\d{2}-\d{2}$/.test(params.get("day") ?? "")
    ? new Date(`${params.get("day")}T00:00:00`)
    : new Date(Number.NaN);
  const start = Number.isNaN(asked.getTime()) ? new Date(now) : asked;
  start.setHours(0, 0, 0, 0);
  const days = params.get("days") === "7" ? 7 : 1;
  return { from: start.getTime(), to: shifted(start.getTime(), days), days };
}

/** Local midnight so many days later. */
export function shifted(midnight: number, days: number): number {
  const d = new Date(midnight);
  d.setDate(d.getDate() + days);
  return d.getTime();
}

const two = (n: number) => String(n).padStart(2, "0");

/** The inverse of daysOf. */
export function scheduleAddress(from: number, days: number, task = ""): string {
  const d = new Date(from);
  const day = `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
  const params = new URLSearchParams({ day, ...(days === 7 ? { days: "7" } : {}) });
  if (task !== "") params.set("task", task);
  return `/control/schedule?${params}`;
}
