import { useCallback, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import type { Alarms } from "../generated/api";
import { usePoll } from "../use-poll";

/** The alarms that are not normal. */
export interface AlarmList {
  /** Undefined until the first answer. */
  data: Alarms | undefined;
  /** Why they could not be asked, "" if they could. */
  problem: string;
  /** Asks at once. */
  again(): void;
}

const every = 2000;

const none: Alarms = {
  alarms: [],
  all: 0,
  open: 0,
  flood: null,
  recent: 0,
  nodes: [],
  version: "",
  same: false,
};

/** The alarms, asked again every two seconds. A node of an older version has none. */
export function useAlarms(api: Api, epoch: number): AlarmList {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => alarmsOf(api), [api]);
  const { data, problem } = usePoll(ask, every, epoch + changes);
  const again = useCallback(() => setChanges((n) => n + 1), []);
  return { data, problem, again };
}

async function alarmsOf(api: Api): Promise<Alarms> {
  try {
    return await api.get<Alarms>("alarms", { limit: 500 });
  } catch (err) {
    if (err instanceof Problem && err.status === 404) return none;
    throw err;
  }
}
