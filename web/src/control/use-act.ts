import { useState } from "preact/hooks";
import { Problem } from "../api";
import type { ControlHolder } from "../generated/api";
import { wordsOf } from "../use-poll";

/** Something that is asked of the node, and how it went. */
export interface Act {
  busy: boolean;
  problem: string;
  /** Who stands in the way. */
  holders: readonly ControlHolder[];
  /** Does it; false if it failed. */
  perform(work: () => Promise<unknown>): Promise<boolean>;
  /** Forgets how the last one went. */
  forget(): void;
}

const calm = { busy: false, problem: "", holders: [] };

/** Asks one thing at a time, and keeps what went wrong. */
export function useAct(): Act {
  const [state, setState] = useState<Pick<Act, "busy" | "problem" | "holders">>(calm);
  const perform = async (work: () => Promise<unknown>) => {
    setState({ ...calm, busy: true });
    try {
      await work();
      setState(calm);
      return true;
    } catch (err) {
      const holders = err instanceof Problem ? err.holders : [];
      setState({ busy: false, problem: wordsOf(err), holders });
      return false;
    }
  };
  return { ...state, perform, forget: () => setState(calm) };
}
