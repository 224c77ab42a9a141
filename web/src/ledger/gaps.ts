import type { Gap, LedgerNode } from "../api";

/** A gap with the nodes that told of it. */
export interface KnownGap extends Gap {
  nodes: string[];
}

/** The gaps of all nodes, each once, the newest first. */
export function gapsOf(nodes: readonly LedgerNode[]): KnownGap[] {
  const known = new Map<string, KnownGap>();
  for (const { node, gaps } of nodes) {
    for (const gap of gaps ?? []) {
      const key = `${gap.first} ${gap.last} ${gap.origin}`;
      const found = known.get(key);
      if (found) found.nodes.push(node);
      else known.set(key, { ...gap, nodes: [node] });
    }
  }
  return [...known.values()].sort((a, b) => Date.parse(b.noticed) - Date.parse(a.noticed));
}
