// Which parts the node has that not every node has.

import { useCallback } from "preact/hooks";
import { type Api, Problem } from "../api";
import type { MeterConcentrators } from "../generated/api";
import { usePoll } from "../use-poll";

/** A part that not every node has. */
export type Part = "metering";

const seldom = 10 * 60_000;
const none: ReadonlySet<Part> = new Set();

/** The parts that the node has; none until it answered. */
export function useParts(api: Api, epoch: number): ReadonlySet<Part> {
  const ask = useCallback(() => partsOf(api), [api]);
  return usePoll(ask, seldom, epoch).data ?? none;
}

async function partsOf(api: Api): Promise<ReadonlySet<Part>> {
  try {
    const { system, concentrators } = await api.get<MeterConcentrators>("metering/concentrators");
    return system || concentrators.length > 0 ? new Set<Part>(["metering"]) : none;
  } catch (err) {
    if (err instanceof Problem) return none; // of an older version
    throw err;
  }
}
