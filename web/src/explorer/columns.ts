import type { Columns, Value } from "../api";
import { filled, outdone } from "../filled";
import { numeric } from "../series";
import type { Span } from "../span";

/** A piece of a curve. Samples without a usable value are null. */
export interface Line {
  times: number[];
  values: (number | null)[];
  /** From when to when, in order, samples were uncertain. */
  uncertain: readonly Span[];
}

/** Unfolds the columns of an answer. */
export function lineOf({ times, values, qualities }: Columns): Line {
  const unfolded = timesOf(times);
  const numbers = values.some(isOdd) ? values.map((v) => numeric(v)) : (values as number[]);
  const line = { times: unfolded, values: numbers as (number | null)[], uncertain: [] as Span[] };
  for (const [first, many, quality] of qualities) {
    if (quality.startsWith("bad")) line.values.fill(null, first, first + many);
    if (!quality.startsWith("uncertain")) continue;
    const begin = unfolded[first];
    const end = unfolded[first + many] ?? unfolded.at(-1);
    if (begin !== undefined && end !== undefined) line.uncertain.push([begin, end]);
  }
  return qualities.some(([, , quality]) => quality === filled)
    ? withoutOutdone(line, qualities)
    : line;
}

function withoutOutdone({ times, values, uncertain }: Line, runs: Columns["qualities"]): Line {
  const names = new Array<string>(times.length).fill("");
  for (const [first, many, quality] of runs) names.fill(quality, first, first + many);
  const leaves = outdone(names);
  const keeps = (_: unknown, i: number) => !leaves[i];
  return { times: times.filter(keeps), values: values.filter(keeps), uncertain };
}

const isOdd = (v: Value) => typeof v !== "number";

/** Steps are added as whole microseconds: the sum of fractions of a millisecond would drift. */
function timesOf([first, ...steps]: readonly number[]): number[] {
  if (first === undefined) return [];
  const times = [first];
  let at = Math.round(first * 1000);
  for (let i = 0; i + 1 < steps.length; i += 2) {
    const step = Math.round((steps[i] ?? 0) * 1000);
    for (let n = steps[i + 1] ?? 0; n > 0; n--) {
      at += step;
      times.push(at / 1000);
    }
  }
  return times;
}

/** The part of a line between two times. */
export function cut({ times, values, uncertain }: Line, from: number, to: number): Line {
  const first = indexOf(times, from);
  const end = indexOf(times, to);
  return {
    times: times.slice(first, end),
    values: values.slice(first, end),
    uncertain: uncertain.filter(([a, b]) => a < to && b >= from),
  };
}

/** The index of the first time that is not before a time. */
export function indexOf(times: readonly number[], time: number): number {
  let low = 0;
  let high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
