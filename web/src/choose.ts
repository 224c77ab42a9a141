import type { Device, Point } from "./api";
import { deviceLevel } from "./health";
import { isUnder, parentOf } from "./path";
import { ranges, type View } from "./view";

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

/** Up to two numeric points of one unit; measured quantities before plain numbers. */
function firstCurves(points: readonly Point[]): string[] {
  const numbers = points.filter((p) => p.kind === "float" || p.kind === "int");
  const first = numbers.find((p) => p.unit !== "") ?? numbers[0];
  if (!first) return [];
  return numbers
    .filter((p) => p.unit === first.unit)
    .slice(0, 2)
    .map((p) => p.path);
}
