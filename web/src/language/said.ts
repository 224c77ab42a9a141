// Sentences that a node makes are English. This finds the pattern of one and says it in the page's language; text
// inside, such as a reason of a device, stays as it is where it has no pattern.

import { plain } from "../format";
import { isRank } from "./codes";
import { fitting, type Hole, type Patterns, patternsOf, saysEnough } from "./patterns";
import { isTranslated, language, loadReasons, say, sentences } from "./words";

let patterns: Patterns = patternsOf(sentences);

const mostKept = 2000;
/** Longer texts are no sentences. */
const longest = 4000;
const kept = new Map<string, string>();

/** Resolves when reasons have their translations too, which are loaded once the page has nothing else to do. */
export const withReasons: Promise<void> =
  sentences.length === 0 ? Promise.resolve() : new Promise<void>((then) => idle(then)).then(learn);

function idle(then: () => void): void {
  if (typeof requestIdleCallback === "function") requestIdleCallback(() => then());
  else setTimeout(then, 200);
}

async function learn(): Promise<void> {
  patterns = patternsOf([...sentences, ...(await loadReasons())]);
  kept.clear();
}

/** A sentence of a node in the page's language; as it is if it has no pattern. */
export function said(text: string): string {
  if (language === "en" || patterns.size === 0 || text.length > longest) return text;
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

const deepest = 6;

function translated(text: string, depth: number): string {
  if (!/\p{L}{2}/u.test(text)) return text;
  if (isTranslated(text)) return say(text);
  if (depth > deepest) return text;
  const joint = /^\d+ \w+(, \d+ \w+)+$/.test(text) ? ", " : "; ";
  return (
    several(text.split(joint), joint, depth, "every") ??
    bySentence(text, depth) ??
    withReason(/^(.+) \(([^()]*)\)$/s.exec(text), depth) ??
    several(text.split(joint), joint, depth, "some") ??
    behindName(text, depth) ??
    text
  );
}

/** Several sentences in one, if each has its own pattern, or if some have. */
function several(
  parts: string[],
  joint: string,
  depth: number,
  enough: "every" | "some",
): string | undefined {
  if (parts.length < 2) return undefined;
  const others = parts.map((part, i) =>
    i === 0 && depth === 0 ? capital(part) : translated(part, depth + 1),
  );
  return parts[enough]((part, i) => part !== others[i]) ? others.join(joint) : undefined;
}

function bySentence(text: string, depth: number): string | undefined {
  for (const [p, values] of fitting(text, patterns)) {
    // What stands before a colon is said by itself
    if (p.literals[0] === "" && values[0]?.includes(": ")) continue;
    const filled = values.map((v, i) => filling(p.holes[i], v, depth));
    const left = values.filter((v, i) => filled[i] === v);
    if (saysEnough(p, left)) return say(p.key, ...filled);
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
  return behind === rest ? undefined : `${inside(before, depth)}: ${behind}`;
}

function filling(hole: Hole | undefined, value: string, depth: number): string | number {
  if (hole?.kind === "#") return Number(value.replaceAll(",", ""));
  if (hole?.kind === "?") return value === hole.one ? 1 : 2;
  return inside(value, depth);
}

/** A part of a sentence; a name, key or value of one word stays as it is, even if the page has such a word. */
const inside = (text: string, depth: number): string =>
  /^\p{Lu}|\s/u.test(text) || isRank(text) ? translated(text, depth + 1) : text;
