import { type Curve, indexAfter } from "../series";
import { differenceOf, parseUnit } from "./units";

/** What is compared: the index of the next sample, so that a walk in time order costs one pass. */
interface Held {
  curve: Curve;
  next: number;
}

/** The value that holds at a time, walking forward. */
function heldAt(held: Held, time: number): number | null {
  const { times, values } = held.curve;
  while (held.next < times.length && (times[held.next] ?? 0) <= time) held.next++;
  return held.next === 0 ? null : (values[held.next - 1] ?? null);
}

/** The unit of differences as an axis shows it, apart from the axis of the values. */
export const differenceUnit = (unit: string) => `Δ ${differenceOf(parseUnit(unit)).name}`.trim();

/** How far a curve is from what it is compared with, at its own times; null where one of both is missing. */
export function differenceCurve(own: Curve, ghost: Curve): Curve {
  const held: Held = { curve: ghost, next: indexAfter(ghost, own.times[0] ?? 0) };
  const values = own.values.map((v, i) => {
    const then = heldAt(held, own.times[i] ?? 0);
    return v === null || then === null ? null : v - then;
  });
  const stepped = (own.stepped ?? false) || own.kind === "bool";
  return {
    ...own,
    kind: "float",
    unit: differenceUnit(own.unit),
    times: own.times,
    values,
    stepped,
    uncertain: [],
  };
}
