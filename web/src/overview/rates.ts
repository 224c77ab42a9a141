import type { Books } from "../use-site";

/** What was counted up to a moment. */
export interface Count {
  /** Milliseconds; only differences matter. */
  at: number;
  samples: number;
  messages: number;
}

/** What goes through the node in a second. */
export interface Rates {
  samples: number;
  messages: number;
}

/** How far back the rates look, in milliseconds. */
const reach = 60_000;

/** Counts what the books say: samples that came in, and reads, each of which is a live message. */
export const countOf = ({ devices, ledger }: Books, at: number): Count => ({
  at,
  samples: (ledger.origins ?? []).reduce((sum, o) => sum + o.produced, 0),
  messages: devices.reduce((sum, d) => sum + d.reads, 0),
});

/** The counts of the last minute with a new one; a count that fell begins anew, as a new process does. */
export function remember(counts: readonly Count[], next: Count): readonly Count[] {
  const last = counts.at(-1);
  if (last && (next.samples < last.samples || next.messages < last.messages)) return [next];
  return [...counts.filter((c) => next.at - c.at <= reach), next];
}

/** The rates over the remembered counts; undefined before there are two. */
export function ratesOf(counts: readonly Count[]): Rates | undefined {
  const first = counts[0];
  const last = counts.at(-1);
  if (!first || !last || last.at <= first.at) return undefined;
  const seconds = (last.at - first.at) / 1000;
  return {
    samples: (last.samples - first.samples) / seconds,
    messages: (last.messages - first.messages) / seconds,
  };
}
