// The nodes as the stream about them tells: first all of them, then what changed.

import type { Node, Nodes, NodesChange } from "../generated/api";

/** The nodes after a change, in the order of the tree. A node that did not change stays the same object. */
export function merged(before: Nodes | undefined, change: NodesChange): Nodes {
  const nodes = new Map<string, Node>();
  if (!change.whole) for (const n of before?.nodes ?? []) nodes.set(n.name, n);
  for (const name of change.gone ?? []) nodes.delete(name);
  for (const fields of change.nodes)
    nodes.set(fields.name, mergedNode(nodes.get(fields.name), fields));
  return {
    nodes: [...nodes.values()].sort((a, b) => order(a.path, b.path)),
    above: change.above ?? before?.above ?? [],
    refused: change.refused ?? before?.refused ?? [],
  };
}

/** A node with the fields that changed; null stands for one that is no more. */
function mergedNode(before: Node | undefined, fields: NodesChange["nodes"][number]): Node {
  const all = Object.entries({ ...before, ...fields });
  return Object.fromEntries(all.filter(([, v]) => v !== null)) as unknown as Node;
}

/** Each node before its descendants. */
export function order(a: readonly string[], b: readonly string[]): number {
  for (let i = 0; i < Math.min(a.length, b.length); i++) {
    const [x = "", y = ""] = [a[i], b[i]];
    if (x !== y) return x < y ? -1 : 1;
  }
  return a.length - b.length;
}
