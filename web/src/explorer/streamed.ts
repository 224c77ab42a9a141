import { isUnder, parentOf } from "../path";

/** A node takes so many patterns for one stream. */
const most = 32;

/** What to stream for points: themselves, or their devices, or the deepest branch that holds all. */
export function streamed(points: readonly string[]): readonly string[] {
  if (points.length <= most) return points;
  const parents = [...new Set(points.map(parentOf))];
  if (parents.length <= most) return parents;
  let branch = parents[0] ?? "";
  while (!points.every((p) => isUnder(p, branch))) branch = parentOf(branch);
  return [branch];
}
