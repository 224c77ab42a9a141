import { numeral, wrongNumber } from "../language/number";
// What an agent may do, in lines that each can be granted and withdrawn.

import { plain } from "../format";
import type { Grants, Where } from "../generated/api";

/** The kinds of capabilities, with what each allows. */
export const kinds = {
  publish: "send live values and messages about",
  record: "record samples of",
  subscribe: "listen to",
  read: "read the history of",
  command: "command",
  call: "call",
  hold: "hold the capability",
} as const;

/** A kind of capability that is not everything. */
export type Kind = keyof typeof kinds;

/** One capability. */
export interface Line {
  kind: Kind | "administer";
  /** What it is, in a form in which equal capabilities are equal. */
  text: string;
  /** What restricts it, "" if nothing does. */
  within: string;
  /** The grant alone, to give or withdraw it. */
  grants: Grants;
}

const paths = ["publish", "record", "subscribe", "read"] as const;

/** All that the grants allow, line by line. */
export function linesOf(grants: Grants): Line[] {
  const lines: Line[] = [];
  for (const kind of paths) {
    for (const pattern of grants[kind] ?? []) {
      lines.push({ kind, text: pattern, within: "", grants: { [kind]: [pattern] } });
    }
  }
  for (const c of grants.command ?? []) {
    const level = `level ${c.level} and less urgent`;
    const span = spanWords(c);
    const within = span ? `${level}, values ${span}` : level;
    lines.push({ kind: "command", text: c.path, within, grants: { command: [c] } });
  }
  for (const c of grants.call ?? []) {
    const text = c.method ? `${c.agent}:${c.method}` : `all methods of ${c.agent}`;
    lines.push({ kind: "call", text, within: whereWords(c.where), grants: { call: [c] } });
  }
  for (const h of grants.hold ?? []) {
    lines.push({ kind: "hold", text: h.name, within: whereWords(h.where), grants: { hold: [h] } });
  }
  if (grants.administer) {
    lines.push({
      kind: "administer",
      text: "everything",
      within: "",
      grants: { administer: true },
    });
  }
  return lines;
}

/** A line as a sentence: "may listen to campus/b1/**". */
export const sentence = ({ kind, text, within }: Line) =>
  kind === "administer"
    ? "may do everything, also what concerns other agents"
    : `may ${kinds[kind]} ${plain(text)}${within ? `, ${plain(within)}` : ""}`;

/** What of the wants is not granted as it stands there. */
export function missing(wants: Grants, grants: Grants): Line[] {
  if (grants.administer) return [];
  const key = (l: Line) => `${l.kind} ${l.text} ${l.within}`;
  const has = new Set(linesOf(grants).map(key));
  return linesOf(wants).filter((l) => !has.has(key(l)));
}

function spanWords({ min, max }: { min?: number; max?: number }): string {
  if (min !== undefined && max !== undefined) return `${min} to ${max}`;
  if (min !== undefined) return `from ${min}`;
  return max !== undefined ? `up to ${max}` : "";
}

/** The restrictions of arguments, in words. */
export function whereWords(where: Where | undefined): string {
  const parts = Object.entries(where ?? {}).map(([name, rule]) => {
    if (typeof rule === "string") return `${name} in ${rule}`;
    if (Array.isArray(rule)) return `${name} one of ${rule.join(", ")}`;
    return `${name} ${spanWords(rule)}`;
  });
  return parts.length > 0 ? `where ${parts.join(" and ")}` : "";
}

/** A capability as it is typed. */
export interface Typed {
  kind: Kind;
  /** A pattern, an agent, or a name. */
  what: string;
  /** Of a call; "" for all. */
  method: string;
  /** Of a command, 1 to 16. */
  level: string;
  min: string;
  max: string;
  /** Restrictions of arguments as JSON, or empty. */
  where: string;
}

/** The grant that was typed, or what is wrong with it. */
export function grantOf(typed: Typed): { grants: Grants } | { problem: string } {
  const what = typed.what.trim();
  if (what === "") return { problem: "Say what it is about." };
  const { kind } = typed;
  if (kind === "command") return commandOf(what, typed);
  if (kind !== "call" && kind !== "hold") return { grants: { [kind]: [what] } };
  const where = whereOf(typed.where);
  if (where === null) {
    return { problem: 'Write the restriction as JSON, such as {"device": "campus/b1/**"}.' };
  }
  const bound = where ? { where } : {};
  if (kind === "hold") return { grants: { hold: [{ name: what, ...bound }] } };
  const method = typed.method.trim();
  return { grants: { call: [{ agent: what, ...(method ? { method } : {}), ...bound }] } };
}

function commandOf(path: string, typed: Typed): { grants: Grants } | { problem: string } {
  const level = Number(typed.level);
  if (!Number.isInteger(level) || level < 1 || level > 16) {
    return { problem: "The level is a number from 1, the most urgent, to 16." };
  }
  const bounds: { min?: number; max?: number } = {};
  for (const end of ["min", "max"] as const) {
    if (typed[end].trim() === "") continue;
    const value = numeral(typed[end]);
    if (!Number.isFinite(value))
      return { problem: wrongNumber(typed[end], `"${typed[end]}" is no number.`) };
    bounds[end] = value;
  }
  return { grants: { command: [{ path, level, ...bounds }] } };
}

/** Restrictions from JSON; undefined for none, null if it is no object. */
function whereOf(text: string): Where | undefined | null {
  if (text.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Where)
      : null;
  } catch {
    return null;
  }
}
