import { useCallback, useRef } from "preact/hooks";
import { type Api, Problem } from "../api";
import type { Agents, Bus, Peers, Processes } from "../generated/api";
import { type Polled, usePoll } from "../use-poll";
import { type Counted, countOf, flowsOf, type Row, rowsOf } from "./row";

/** The agents, and by what this node can keep them apart. */
export interface Fleet {
  rows: Row[];
  isolation: readonly string[];
  /** Why agents have no users of their own here, "" if they have. */
  whyNot: string;
  /** Whether this node installs agents. */
  installs: boolean;
}

const every = 3000;

/** All that is known about the agents. Rates need two answers, and the role engineer. */
export function useAgents(api: Api, mayLook: boolean, epoch: number): Polled<Fleet> {
  const counted = useRef<Counted | undefined>(undefined);
  const ask = useCallback(async () => {
    const [found, identities, peers, bus] = await Promise.all([
      orNothing(api.get<Processes>("processes")),
      api.get<Agents>("agents"),
      api.get<Peers>("peers"),
      mayLook ? orNothing(api.get<Bus>("bus")) : undefined,
    ]);
    const now = bus && countOf(bus, identities.agents, performance.now());
    const flows = now && flowsOf(counted.current, now);
    counted.current = now;
    return {
      rows: rowsOf(found?.processes ?? [], identities.agents, peers.peers, flows),
      isolation: found?.isolation ?? [],
      whyNot: found?.why_not ?? "",
      installs: found !== undefined,
    };
  }, [api, mayLook]);
  return usePoll(ask, every, epoch);
}

/** What a node need not have. */
async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (err) {
    if (err instanceof Problem && err.status === 404) return undefined;
    throw err;
  }
}
