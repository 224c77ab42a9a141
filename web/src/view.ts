// What the page shows, as the query of its address, so that a link reproduces it.

/** A range of time: one that ends now, or one that stands still. */
export type Range = { last: number } | { from: number; to: number };

/** What the page shows. */
export interface View {
  branch: string;
  /** The plotted points, in the order of their colours. */
  points: readonly string[];
  range: Range;
}

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The ranges to choose from: how they are called, how they stand in the address, milliseconds. */
export const ranges = [
  { label: "15 min", key: "15m", ms: 15 * MINUTE },
  { label: "1 h", key: "1h", ms: HOUR },
  { label: "1 day", key: "1d", ms: DAY },
  { label: "7 days", key: "7d", ms: 7 * DAY },
  { label: "30 days", key: "30d", ms: 30 * DAY },
] as const;

/** As many curves as there are colours that can be told apart. */
export const mostPoints = 8;

const shortest = 1000;
const longest = 20 * 366 * DAY;

/** Reads an address's query. Undefined if it says nothing, so that the page may choose itself. */
export function parseView(search: string): View | undefined {
  const params = new URLSearchParams(search);
  if (!params.has("branch") && !params.has("point")) return undefined;
  const points = [...new Set(params.getAll("point"))].filter((p) => p !== "").slice(0, mostPoints);
  return { branch: params.get("branch") ?? "", points, range: parseRange(params) };
}

/** A range to choose: how it is called, how it stands in the address, milliseconds. */
export interface Choice {
  label: string;
  key: string;
  ms: number;
}

/** Reads the range of an address's query: one of the choices, or two times. */
export function parseRange(params: URLSearchParams, choices: readonly Choice[] = ranges): Range {
  const from = Date.parse(params.get("from") ?? "");
  const to = Date.parse(params.get("to") ?? "");
  if (to - from >= shortest && to - from <= longest) return { from, to };
  const chosen = choices.find((r) => r.key === params.get("range"));
  return { last: (chosen ?? choices[0] ?? ranges[0]).ms };
}

/** The inverse of parseView. */
export function formatView(view: View): string {
  const params = new URLSearchParams({ branch: view.branch });
  for (const point of view.points) params.append("point", point);
  putRange(params, view.range);
  return `?${params}`;
}

/** The inverse of parseRange. */
export function putRange(
  params: URLSearchParams,
  range: Range,
  choices: readonly Choice[] = ranges,
): void {
  if ("last" in range) {
    params.set("range", (choices.find((r) => r.ms === range.last) ?? choices[0] ?? ranges[0]).key);
  } else {
    params.set("from", new Date(range.from).toISOString());
    params.set("to", new Date(range.to).toISOString());
  }
}

/** The bounds of a range in milliseconds. */
export const bounds = (range: Range, now: number): [number, number] =>
  "last" in range ? [now - range.last, now] : [range.from, range.to];

/** A narrower (steps < 0) or wider (steps > 0) range: live ones stay live, others keep their middle. */
export function zoom(range: Range, steps: -1 | 1): Range {
  if ("last" in range) {
    const at = ranges.findIndex((r) => r.ms === range.last);
    return { last: ranges[Math.max(0, at + steps)]?.ms ?? range.last };
  }
  const width = clampWidth((range.to - range.from) * (steps < 0 ? 0.5 : 2));
  const middle = (range.from + range.to) / 2;
  return { from: Math.round(middle - width / 2), to: Math.round(middle + width / 2) };
}

/** The range half a width earlier (steps < 0) or later; live again when it reaches the present. */
export function pan(range: Range, steps: -1 | 1, now: number): Range {
  if ("last" in range && steps > 0) return range;
  const [from, to] = bounds(range, now);
  const width = to - from;
  const chosen = ranges.find((r) => r.ms === width);
  if (steps > 0 && to + width / 2 >= now && chosen) return { last: chosen.ms };
  return { from: Math.round(from + (steps * width) / 2), to: Math.round(to + (steps * width) / 2) };
}

const clampWidth = (ms: number) => Math.min(longest, Math.max(shortest, Math.round(ms)));

/** Adds the point to the plot, or takes it away. The oldest one goes when there are too many. */
export function toggle(points: readonly string[], path: string): string[] {
  if (points.includes(path)) return points.filter((p) => p !== path);
  return [...points, path].slice(-mostPoints);
}
