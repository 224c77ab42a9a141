// What a shift hands over of the descendants: each of them is asked, by way of this node, for what it alone knows.

import { type Api, isLoggedOut, Problem } from "../api";
import { span } from "../format";
import type {
  ControlOverrides,
  ControlSlots,
  Node,
  Nodes,
  NotedAnnotation,
} from "../generated/api";
import { wordsOf } from "../use-poll";
import { heldAt, type Left, type Part, type Untold } from "./sum";

/** What the descendants told, and what they did not. */
export interface Below extends Left {
  untold: Untold[];
  /** Whether a node may answer soon that did not, other than one that refused. */
  isLate: boolean;
}

/** So many nodes are asked at the same time: a browser has few connections to spare. */
const atOnce = 3;

/** So long a node may take for all its answers, in milliseconds. */
const patience = 8000;

/** Asks all descendants for overrides, points held by hand, and the notes since from. */
export async function askBelow(api: Api, from: string): Promise<Below> {
  const { nodes } = await api.get<Nodes>("nodes");
  const told: Below = { overrides: [], byHand: [], notes: [], untold: [], isLate: false };
  const waiting: string[] = [];
  for (const n of nodes.filter((node) => node.path.length > 0)) {
    if (n.state === "connected") waiting.push(n.name);
    else told.untold.push({ node: n.name, parts: [], reasons: [awayWords(n, api.now())] });
  }
  const worker = async () => {
    for (let node = waiting.shift(); node !== undefined; node = waiting.shift())
      await askNode(api.at(node), node, from, told);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return told;
}

function awayWords({ since }: Node, now: number): string {
  if (!since) return "it is away";
  return `it has been away for ${span(Math.max(0, now - Date.parse(since)))}`;
}

/** Adds what a node tells, one question after the other. */
async function askNode(far: Api, node: string, from: string, told: Below): Promise<void> {
  const patient = AbortSignal.timeout(patience);
  const untold: Untold = { node, parts: [], reasons: [] };
  const ask = async <T>(part: Part, resource: string, query: Record<string, string> = {}) => {
    try {
      return await far.get<T>(resource, query, patient);
    } catch (err) {
      // Then this node does not answer, and says nothing of the other one
      if (err instanceof TypeError || isLoggedOut(err)) throw err;
      // It has no such part, and so has none of it
      if (err instanceof Problem && err.status === 404) return undefined;
      if (!(err instanceof Problem && err.status === 403)) told.isLate = true;
      untold.parts.push(part);
      const reason = reasonWords(err);
      if (!untold.reasons.includes(reason)) untold.reasons.push(reason);
      return undefined;
    }
  };
  const held = await ask<ControlOverrides>("overrides", "control/overrides");
  const busy = await ask<ControlSlots>("held", "control/held");
  const noted = await ask<{ annotations: NotedAnnotation[] }>("notes", "annotations", { from });
  if (untold.parts.length > 0) told.untold.push(untold);
  for (const holder of held?.overrides ?? []) told.overrides.push({ node, holder });
  told.byHand.push(...heldAt(node, busy?.commands ?? []));
  for (const note of noted?.annotations ?? []) told.notes.push({ node, note });
}

function reasonWords(err: unknown): string {
  if (err instanceof DOMException && err.name === "TimeoutError")
    return `it did not answer within ${patience / 1000} s`;
  return wordsOf(err);
}
