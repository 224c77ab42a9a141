import type { Columns, PlotSample } from "../src/api";

/** Samples as the columns that the node answers when it is asked for them. */
export function columnsOf(samples: readonly PlotSample[]): Columns {
  const times = samples.flatMap(([t], i) => (i === 0 ? [t] : [t - (samples[i - 1]?.[0] ?? 0), 1]));
  const qualities = samples.flatMap(([, , q], i): Columns["qualities"] => (q ? [[i, 1, q]] : []));
  return { times, values: samples.map(([, v]) => v), qualities };
}
