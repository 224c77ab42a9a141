// The ledger as the stream about nodes tells it: first all of it, then what changed.

import type { Ledger, LedgerNode } from "../api";
import type { LedgerChange } from "../generated/api";
import { order } from "../node/roster";

const nothing: Ledger = { state: "", reason: "", origins: [], gaps: [], log: null, damaged: [] };

/** The ledger after a change. An account that did not change stays the same object. */
export function mergedLedger(before: Ledger | undefined, change: LedgerChange): Ledger {
  const accounts = new Map<string, LedgerNode>();
  const key = (path: readonly string[]) => JSON.stringify(path);
  if (!change.whole) for (const n of before?.nodes ?? []) accounts.set(key(n.path), n);
  for (const path of change.gone ?? []) accounts.delete(key(path));
  for (const n of change.nodes) accounts.set(key(n.path), n);
  return {
    ...(change.whole ? nothing : (before ?? nothing)),
    ...(change.ledger as Partial<Ledger>),
    nodes: [...accounts.values()].sort((a, b) => order(a.path, b.path)),
  };
}
