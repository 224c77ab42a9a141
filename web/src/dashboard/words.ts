// What tiles say about points.

import { plain, qualityName, unit, value } from "../format";
import type { DashboardTile } from "../generated/api";
import type { Level } from "../health";
import { knownWords } from "../last-known";
import { nameOf, parentOf } from "../path";
import type { Reading } from "./board-values";
import { titleWords } from "./proposed";

/** What a kind of tile is called, and what it is good for. */
export const kindWords: Record<DashboardTile["kind"], { name: string; hint: string }> = {
  value: { name: "Value", hint: "One point as a large number, with its last hours" },
  trend: { name: "Trend", hint: "1 to 8 points over time" },
  gauge: { name: "Gauge", hint: "One point on a round scale" },
  bar: { name: "Bars", hint: "Points beside each other on one scale" },
  state: { name: "States", hint: "What is on, off, open or closed" },
  table: { name: "Table", hint: "Points with values and quality" },
  alarms: { name: "Alarms", hint: "The open alarms, of all points or of a branch" },
  text: { name: "Text", hint: "A heading or a note" },
  picture: { name: "Picture", hint: "A floor plan or single-line diagram with live values" },
  map: { name: "Map", hint: "Sites by latitude and longitude" },
};

/** How a point is called when it stands alone: its description, or else its name. */
export const labelOf = ({ point, path }: Reading) =>
  plain(point?.description || nameOf(path)) || "(no name)";

/**
 * How points are called beside each other: by their descriptions, unless these are the same; then by where they are,
 * as far as that tells them apart.
 */
export function labelsOf(readings: readonly Reading[]): string[] {
  const labels = readings.map(labelOf);
  return labels.map((label, i) => {
    const path = readings[i]?.path ?? "";
    const twins = readings.filter((_, k) => labels[k] === label);
    if (twins.length < 2) return label;
    const where =
      plain(
        apart(
          parentOf(path),
          twins.map((r) => parentOf(r.path)),
        ),
      ) || label;
    return twins.length === readings.length ? where : `${label}, ${where}`;
  });
}

/** As few of the last segments of a path as tell it apart from the others. */
function apart(path: string, all: readonly string[]): string {
  const segments = path.split("/");
  for (let n = 1; n <= segments.length; n++) {
    const end = segments.slice(-n).join("/");
    if (all.filter((p) => `/${p}`.endsWith(`/${end}`)).length === 1) return end;
  }
  return path;
}

/** The value that is shown of a point: the newest, or the last that is known of one that has none now. */
export const shownOf = (r: Reading) => (r.known ? r.known.value : r.last?.value);

/** A value with its unit: "21.50 °C"; how it is missing, if it is. */
export function valueWords(r: Reading): string {
  if (r.missing) return "no such point";
  if (!r.last) return "–";
  const of = unit(r.point?.unit ?? "");
  const shown = value(shownOf(r), r.point?.unit);
  return of ? `${shown} ${of}` : shown;
}

/** Why a reading is not to be relied on, or out of its limits; "" if neither. */
export function doubtWords(r: Reading, limits: Pick<DashboardTile, "low" | "high"> = {}): string {
  if (r.missing) return "The node has no point of this name";
  if (!r.last) return "No value yet";
  if (r.known) return knownWords(r.last.quality, r.known);
  if (r.last.quality.startsWith("bad") || r.last.quality.startsWith("uncertain"))
    return qualityName(r.last.quality);
  if (r.stale) return "Stale";
  const n = r.last.value;
  if (typeof n !== "number") return "";
  if (limits.low !== undefined && n < limits.low) return `Below ${value(limits.low)}`;
  if (limits.high !== undefined && n > limits.high) return `Above ${value(limits.high)}`;
  return "";
}

/** How much a reading is a matter of concern. */
export function levelOf(r: Reading, limits: Pick<DashboardTile, "low" | "high"> = {}): Level {
  if (r.missing || r.last?.quality.startsWith("bad")) return "bad";
  if (!r.last) return "wait";
  return doubtWords(r, limits) ? "warn" : "good";
}

/** How a reading is marked: by its level, and grey if its value is an old one. */
export const markOf = (r: Reading, limits: Pick<DashboardTile, "low" | "high"> = {}) =>
  `is-${levelOf(r, limits)}${r.known ? " is-old" : ""}`;

/** Where a value is on a scale: from 0 to 1, undefined if it is no number. */
export function shareOf(r: Reading, { min = 0, max = 100 }: Pick<DashboardTile, "min" | "max">) {
  const v = shownOf(r);
  const n = typeof v === "boolean" ? Number(v) : v;
  if (typeof n !== "number" || !Number.isFinite(n) || max <= min) return undefined;
  return Math.min(1, Math.max(0, (n - min) / (max - min)));
}

/** The title of a tile: its own, or that of its point, or its kind. */
export function titleOf(tile: DashboardTile, readings: readonly Reading[]): string {
  const only = readings.length === 1 ? readings[0] : undefined;
  return titleWords(tile.title ?? "") || (only ? labelOf(only) : kindWords[tile.kind].name);
}
