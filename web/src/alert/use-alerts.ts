import { useCallback, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import type { Alert, Alerts } from "../generated/api";
import { usePoll } from "../use-poll";

/** The alerts that are open. */
export interface OpenAlerts {
  /** The most severe first; undefined until the first answer. */
  list: readonly Alert[] | undefined;
  /** Why they could not be asked, "" if they could. */
  problem: string;
  /** Asks at once. */
  again(): void;
}

const calm = 10_000;

/** The open alerts, asked again each ten seconds. A node of an older version has none. */
export function useAlerts(api: Api, epoch: number): OpenAlerts {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => openAlerts(api), [api]);
  const { data, problem } = usePoll(ask, calm, epoch + changes);
  const again = useCallback(() => setChanges((n) => n + 1), []);
  return { list: data, problem, again };
}

async function openAlerts(api: Api): Promise<readonly Alert[]> {
  try {
    return (await api.get<Alerts>("alerts")).alerts;
  } catch (err) {
    if (err instanceof Problem && err.status === 404) return [];
    throw err;
  }
}
