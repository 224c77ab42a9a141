import type { Device, Point } from "../api";
import { deviceLevel } from "../health";
import { isUnder, parentOf } from "../path";
import { ranges, type View } from "../view";

/** The first view of somebody who asked for none: a device that answers, and two of its curves. */
export function chooseView(points: readonly Point[], devices: readonly Device[]): View | undefined {
  const range = { last: ranges[0].ms };
  for (const device of [...devices].sort((a, b) => appeal(b) - appeal(a))) {
    const curves = firstCurves(points.filter((p) => belongsTo(p, device.path)));
    if (curves.length > 0) return { branch: device.path, points: curves, range };
  }
  const curves = firstCurves(points);
  const first = curves[0] ?? points[0]?.path;
  return first === undefined ? undefined : { branch: parentOf(first), points: curves, range };
}

const belongsTo = (point: Point, device: string) =>
  point.device === device || (point.device === "" && isUnder(point.path, device));

/** Real devices before simulated ones, answering ones before silent ones. */
const appeal = (d: Device) => (d.driver !== "sim" ? 1 : 0) + (deviceLevel(d) === "good" ? 2 : 0);

/** Up to two measured quantities of one unit: those that are worth a look before those that are not. */
export function firstCurves(points: readonly Point[]): string[] {
  const numbers = points
    .filter((p) => p.kind === "float" || p.kind === "int")
    .sort((a, b) => interest(b) - interest(a));
  const first = numbers[0];
  if (!first) return [];
  return numbers
    .filter((p) => p.unit === first.unit)
    .slice(0, 2)
    .map((p) => p.path);
}

const temperatures = new Set([
  "degC",
  "degF",
  "°C",
  "°F",
  "K",
  "degreesCelsius",
  "degreesFahrenheit",
]);
const counters = new Set(["", "Wh", "kWh", "MWh", "MJ", "GJ", "m3", "m³", "l", "h"]);

/** Temperatures move visibly; counters only rise, and what can be written often stands still. */
const interest = (p: Point) =>
  (temperatures.has(p.unit) ? 2 : counters.has(p.unit) ? 0 : 1) * 2 + (p.writable ? 0 : 1);
