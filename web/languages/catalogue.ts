// What the page says, from its sources and from the sentences of the node, and how far each language has it.

import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { messages } from "./extract";
import { hasWords, keyFor, names, read } from "./plugin";

const here = import.meta.dirname;
const web = join(here, "..");

/** Literals that look like words and are none, such as commands, patterns of paths and names of products. */
const notWords = new Set<string>(
  JSON.parse(readFileSync(join(here, "not-words.json"), "utf8")) as string[],
);

/** Every text of the page, with one place each. A text that a folder has for itself is named by both. */
export function catalogue(): Map<string, string> {
  const own = new Set(names().flatMap((n) => Object.keys(read(n))));
  const found = new Map<string, string>();
  const files = readdirSync(join(web, "src"), { recursive: true, encoding: "utf8" }).sort();
  for (const name of files) {
    const file = join(web, "src", name);
    if (!hasWords(file)) continue;
    for (const m of messages(file, readFileSync(file, "utf8"))) {
      if (notWords.has(m.key)) continue;
      found.set(
        keyFor(m.key, file, (k) => own.has(k)),
        `src/${name}:${m.line}`,
      );
    }
  }
  for (const key of listed("sentences")) found.set(key, "a node");
  return found;
}

/** The reasons of a node that the page does not say itself. */
export function reasons(said: ReadonlyMap<string, string>): Map<string, string> {
  return new Map(
    listed("reasons")
      .filter((key) => !said.has(key))
      .map((key) => [key, "a node"]),
  );
}

const listed = (name: string): string[] =>
  JSON.parse(readFileSync(join(web, `src/generated/${name}.json`), "utf8"));

const holesOf = (text: string) => [...text.matchAll(/\{(\d+)([#?]?)[^}]*\}/g)];

/** What is wrong with a translation; "" if nothing. Forms of a number may be left out, values may not. */
export function fault(english: string, text: string): string {
  const wanted = new Map(holesOf(english).map((h) => [h[1], h[2] ?? ""]));
  const has = new Map(holesOf(text).map((h) => [h[1], h[2] ?? ""]));
  for (const [n, kind] of wanted) if (kind !== "?" && !has.has(n)) return `{${n}} is missing`;
  for (const [n, kind] of has) {
    if (!wanted.has(n)) return `{${n}} is not in the English text`;
    if (kind !== "" && wanted.get(n) === "") return `{${n}} is no number there: write {${n}}`;
    if (kind === "" && wanted.get(n) === "?")
      return `{${n}} needs its forms, such as {${n}?ist|sind}`;
  }
  for (const [hole] of holesOf(text))
    if (/[#?]/.test(hole) && hole.split("|").length < 2)
      return `${hole} needs a form for one and for others`;
  const ends = /^\s*|\s*$/g;
  if (english.match(ends)?.join("_") !== text.match(ends)?.join("_"))
    return "blanks at the beginning or end differ";
  return "";
}

/** Adds what a language lacks, with an empty text, and takes out what nobody says any more. */
export function update(
  name: string,
  old: Record<string, string>,
  wanted: ReadonlyMap<string, string>,
): void {
  const table = [...wanted.keys()].sort().map((key) => [key, old[key] ?? ""]);
  const file = join(here, `${name}.json`);
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(table), null, 2)}\n`);
}
