// Sentences that a node makes are English. This finds the pattern of one and says it in the page's language; text
// inside, such as a reason of a device, stays as it is where it has no pattern.

import { plain } from "../format";
import { isTranslated, language, loadReasons, say, sentences } from "./words";

/** A hole of a pattern: a value, a number with its noun (#), or a word that agrees with a number (?). */
interface Hole {
  kind: string;
  one: string;
}

interface Pattern {
  key: string;
  match: RegExp;
  holes: Hole[];
  /** How many letters it has outside its holes: of two that fit, the one that says more is right. */
  weight: number;
}

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

function pattern(key: string): Pattern {
  const holes: Hole[] = [];
  const parts = key.split(/\{\d+([#?]?)([^}]*)\}/);
  let source = "";
  let weight = 0;
  for (let i = 0; i < parts.length; i += 3) {
    source += escaped(parts[i] ?? "");
    weight += parts[i]?.length ?? 0;
    if (i + 1 >= parts.length) break;
    const [kind = "", words = ""] = [parts[i + 1], parts[i + 2]];
    const [one = "", other = ""] = words.split("|");
    holes.push({ kind, one });
    if (kind === "#") source += `([\\d,.]+) ${escaped(words)}(?:s|es)?`;
    else if (kind === "?") source += `(${escaped(one)}|${escaped(other)})`;
    else source += "(.*?)";
  }
  return { key, match: new RegExp(`^${source}$`, "s"), holes, weight };
}

const byWeight = (keys: readonly string[]) => keys.map(pattern).sort((a, b) => b.weight - a.weight);

let patterns = byWeight(sentences);

const mostKept = 2000;
const kept = new Map<string, string>();

/** Resolves when reasons have their translations too, which are loaded once the page has nothing else to do. */
export const withReasons: Promise<void> =
  sentences.length === 0 ? Promise.resolve() : new Promise<void>((then) => idle(then)).then(learn);

function idle(then: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(() => then());
  else setTimeout(then, 200);
}

async function learn(): Promise<void> {
  patterns = byWeight([...sentences, ...(await loadReasons())]);
  kept.clear();
}

/** A sentence of a node in the page's language; as it is if it has no pattern. */
export function said(text: string): string {
  if (language === "en" || patterns.length === 0) return text;
  const found = kept.get(text) ?? capital(text);
  if (kept.size >= mostKept) kept.clear();
  kept.set(text, found);
  return found;
}

/** What the node or a device gives as a reason, in the page's language and without characters that turn the text around. */
export const reasonOf = (text: string): string => plain(said(text));

/** A sentence whose pattern may begin with a small letter. */
function capital(text: string): string {
  const found = translated(text, 0);
  if (found !== text) return found;
  const small = text.charAt(0).toLowerCase() + text.slice(1);
  const other = translated(small, 0);
  return other === small ? text : other.charAt(0).toUpperCase() + other.slice(1);
}

const deepest = 4;

function translated(text: string, depth: number): string {
  if (depth > deepest || !/\p{L}{2}/u.test(text)) return text;
  if (isTranslated(text)) return say(text);
  const joint = /^\d+ \w+(, \d+ \w+)+$/.test(text) ? ", " : "; ";
  return (
    several(text.split(joint), joint, depth) ??
    bySentence(text, depth) ??
    withReason(/^(.+) \(([^()]*)\)$/s.exec(text), depth) ??
    behindName(text, depth) ??
    text
  );
}

/** Several sentences in one, of which each has its own pattern. */
function several(parts: string[], joint: string, depth: number): string | undefined {
  if (parts.length < 2) return undefined;
  const others = parts.map((part, i) =>
    i === 0 && depth === 0 ? capital(part) : translated(part, depth + 1),
  );
  return parts.every((part, i) => part !== others[i]) ? others.join(joint) : undefined;
}

function bySentence(text: string, depth: number): string | undefined {
  for (const p of patterns) {
    const values = p.match.exec(text)?.slice(1);
    if (!values) continue;
    return say(p.key, ...values.map((v, i) => filling(p.holes[i], v, depth)));
  }
  return undefined;
}

/** A sentence with a reason that somebody gave behind it. */
const withReason = (found: RegExpExecArray | null, depth: number): string | undefined =>
  found ? `${translated(found[1] ?? "", depth + 1)} (${found[2]})` : undefined;

/** What is said of something that stands before it with a colon: a path, a key, or a sentence. */
function behindName(text: string, depth: number): string | undefined {
  const at = text.indexOf(": ");
  if (at < 0) return undefined;
  const [before, rest] = [text.slice(0, at), text.slice(at + 2)];
  const behind = translated(rest, depth + 1);
  return behind === rest ? undefined : `${translated(before, depth + 1)}: ${behind}`;
}

function filling(hole: Hole | undefined, value: string, depth: number): string | number {
  if (hole?.kind === "#") return Number(value.replaceAll(",", ""));
  if (hole?.kind === "?") return value === hole.one ? 1 : 2;
  return translated(value, depth + 1);
}
