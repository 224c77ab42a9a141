// Finds the pattern of a sentence among some thousands, without trying each of them.

/** A hole of a pattern: a value, a number with its noun (#), or a word that agrees with a number (?). */
export interface Hole {
  kind: string;
  one: string;
}

/** A text with holes, which stands for all texts that fill them. */
export interface Pattern {
  key: string;
  holes: readonly Hole[];
  /** What it says outside its holes. */
  literals: readonly string[];
  /** How many letters it has outside its holes: of two that fit, the one that says more is right. */
  weight: number;
  /** Made when the pattern is tried first. */
  match?: RegExp;
}

/** Patterns by the word that they begin with; "" for those that begin with a hole. */
export type Patterns = ReadonlyMap<string, readonly Pattern[]>;

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

const parted = /\{\d+([#?]?)([^}]*)\}/;

function pattern(key: string): Pattern {
  const holes: Hole[] = [];
  const literals: string[] = [];
  const parts = key.split(parted);
  for (let i = 0; i < parts.length; i += 3) {
    literals.push(parts[i] ?? "");
    if (i + 1 < parts.length) {
      const [one = ""] = (parts[i + 2] ?? "").split("|");
      holes.push({ kind: parts[i + 1] ?? "", one });
    }
  }
  return { key, holes, literals, weight: literals.join("").length };
}

const firstWord = (text: string) => text.slice(0, (text.indexOf(" ") + 1 || text.length + 1) - 1);

/** The word that all texts of a pattern begin with; "" if they differ. */
function beginning({ literals }: Pattern): string {
  const [head = ""] = literals;
  return literals.length === 1 || head.includes(" ") ? firstWord(head) : "";
}

/** Patterns of keys, each list with what says most first. */
export function patternsOf(keys: readonly string[]): Patterns {
  const found = new Map<string, Pattern[]>();
  for (const p of keys.map(pattern)) {
    const word = beginning(p);
    const list = found.get(word);
    if (list) list.push(p);
    else found.set(word, [p]);
  }
  const any = found.get("") ?? [];
  for (const [word, list] of found)
    found.set(
      word,
      (word === "" ? list : [...list, ...any]).sort((a, b) => b.weight - a.weight),
    );
  return found;
}

function expression(key: string): RegExp {
  const parts = key.split(parted);
  let source = escaped(parts[0] ?? "");
  for (let i = 1; i < parts.length; i += 3) {
    const [kind, words = ""] = [parts[i], parts[i + 1]];
    const [one = "", other = ""] = words.split("|");
    if (kind === "#") source += `([\\d,.]+) ${escaped(words)}(?:s|es)?`;
    else if (kind === "?") source += `(${escaped(one)}|${escaped(other)})`;
    else source += "(.*?)";
    source += escaped(parts[i + 2] ?? "");
  }
  return new RegExp(`^${source}$`, "s");
}

/** Whether a text has what a pattern says outside its holes, in its order. */
function mayFit(text: string, { literals }: Pattern): boolean {
  const last = literals[literals.length - 1] ?? "";
  if (!text.startsWith(literals[0] ?? "") || !text.endsWith(last)) return false;
  let at = 0;
  for (const part of literals) {
    at = text.indexOf(part, at);
    if (at < 0) return false;
    at += part.length;
  }
  return true;
}

/** The patterns that a text fits, with what fills their holes: what says most first. */
export function* fitting(
  text: string,
  patterns: Patterns,
): Generator<[pattern: Pattern, values: string[]]> {
  for (const p of patterns.get(firstWord(text)) ?? patterns.get("") ?? []) {
    if (!mayFit(text, p)) continue;
    p.match ??= expression(p.key);
    const values = p.match.exec(text)?.slice(1);
    if (values) yield [p, values];
  }
}

const plainWord = /^\p{Ll}{2,}[.:;]?$/u;
/** Names with commas between, as in "write one of json, line or csv". */
const list = /^[^\s,]+(, [^\s,]+)*(,? (or|and) [^\s,]+|, [^\s,]+)$/;
const anyWord = /\p{L}{2,}/u;
const wordsIn = (text: string, word: RegExp) =>
  text.split(/[\s"]+/).filter((part) => word.test(part)).length;

/**
 * Whether a pattern says more than the words that stay English in its holes: "write {0}" must not make half a sentence
 * of "write to another".
 */
export function saysEnough({ literals }: Pattern, left: readonly string[]): boolean {
  const sentences = left.filter((text) => !list.test(text));
  const english = wordsIn(sentences.join(" "), plainWord);
  return english === 0 || english < wordsIn(literals.join(" "), anyWord);
}
