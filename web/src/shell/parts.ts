// Which parts the node has that not every node has.

import { useCallback } from "preact/hooks";
import { type Api, Problem } from "../api";
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
    await api.get("metering/meters", { limit: 1 });
    return new Set<Part>(["metering"]);
  } catch (err) {
    if (err instanceof Problem) return none;
    throw err;
  }
}
