// What the screen says of the rules that readings are judged by.

import { count, plain, plural } from "../format";
import type { AllRules, RuleState, SinkState } from "../generated/api";

/** What readings are withheld from. */
export type Target = Pick<SinkState, "name" | "withheld" | "withheld_kept">;

/** The name by which rules call the parent of the node. */
const parentName = "parent";

/** The parent as what readings are withheld from; undefined if no rule holds for it. */
export function parentOf(all: AllRules): Target | undefined {
  const k = all.kept.find((one) => one.sink === parentName);
  return k && { name: k.sink, withheld: k.withheld, withheld_kept: k.kept };
}

/** The name of a destination in a sentence. */
export const nameOf = (name: string): string => (name === parentName ? "the parent" : plain(name));

/** What a person did with readings. */
export function doneWords(
  what: "release" | "discard",
  name: string,
  readings: number,
  kept: number,
): string {
  const sent = name === parentName ? "released" : "accepted";
  const did = what === "release" ? sent : "discarded";
  return `${plural(readings, "reading")} ${did}, ${count(kept)} still withheld.`;
}

/** The rules of a destination. */
export const rulesOf = (all: AllRules, sink: string): RuleState[] =>
  all.rules.filter((r) => r.sink === sink);

/** What a rule looks at. */
export function checkName(check: RuleState["check"]): string {
  return {
    range: "value in a range",
    rate: "rate of change",
    stuck: "value that stands still",
    difference: "difference to another point",
    ratio: "ratio to another point",
    residual: "distance from a model",
    function: "function in Python",
  }[check];
}

/** What a rule found. */
export function ruleWords(r: RuleState): string {
  const parts = [
    [r.withheld, "withheld"],
    [r.marked, "marked"],
    [r.unjudged, "without a verdict"],
  ] as const;
  const found = parts.filter(([n]) => n > 0).map(([n, what]) => `${count(n)} ${what}`);
  return found.length > 0 ? found.join(", ") : "nothing found";
}

/** What became of the readings that were withheld from a destination; "" if there were none. */
export function keptWords(all: AllRules, sink: string): string {
  const k = all.kept.find((one) => one.sink === sink);
  if (!k || k.withheld + k.kept === 0) return "";
  const parts = [
    [k.kept, k.kept === 1 ? "waits for a person" : "wait for a person"],
    [k.sending, "on the way to the parent"],
    [k.released, "released"],
    [k.discarded, "discarded"],
    [k.unkept, "not kept for lack of room; the history has them"],
  ] as const;
  const became = parts.filter(([n]) => n > 0).map(([n, what]) => `${count(n)} ${what}`);
  return `Of ${plural(k.withheld, "withheld reading")}: ${became.join(", ")}.`;
}
