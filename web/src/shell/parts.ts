// Which parts the node has that not every node has.

import { useCallback } from "preact/hooks";
import { type Api, Problem } from "../api";
import type { Cluster, MeterConcentrators, MQTTStatus } from "../generated/api";
import { usePoll } from "../use-poll";

/** A part that not every node has. */
export type Part = "metering" | "mqtt" | "cluster";

const seldom = 10 * 60_000;
const none: ReadonlySet<Part> = new Set();

/** The parts that the node has; none until it answered. It is not asked before something is shown. */
export function useParts(api: Api, epoch: number, isShown: boolean): ReadonlySet<Part> {
  const ask = useCallback(async () => (isShown ? partsOf(api) : none), [api, isShown]);
  return usePoll(ask, seldom, epoch).data ?? none;
}

async function partsOf(api: Api): Promise<ReadonlySet<Part>> {
  const [metering, mqtt, cluster] = await Promise.all([
    hasMeters(api),
    hasBroker(api),
    hasReplicas(api),
  ]);
  const parts = new Set<Part>();
  if (metering) parts.add("metering");
  if (mqtt) parts.add("mqtt");
  if (cluster) parts.add("cluster");
  return parts;
}

async function hasMeters(api: Api): Promise<boolean> {
  const { system, concentrators } = await api
    .get<MeterConcentrators>("metering/concentrators")
    .catch(absent({ system: false, concentrators: [] }));
  return system || concentrators.length > 0;
}

const hasBroker = (api: Api): Promise<boolean> =>
  api.get<MQTTStatus>("mqtt").then((s) => s.broker, absent(false));

const hasReplicas = (api: Api): Promise<boolean> =>
  api.get<Cluster>("cluster").then((c) => c.replicated, absent(false));

/** What holds where the node answers with a problem, such as one of an older version. */
const absent =
  <T>(value: T) =>
  (err: unknown): T => {
    if (err instanceof Problem) return value;
    throw err;
  };
