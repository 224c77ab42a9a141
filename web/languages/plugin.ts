// The part of the build that makes the page speak other languages: words of the sources that a language has become
// lookups, and the files of the languages go by short names.

import { readdirSync, readFileSync } from "node:fs";
import { join, relative } from "node:path";
import type { Plugin } from "vite";
import { hash } from "../src/language/hash";
import { messages, rewrite } from "./extract";

const here = import.meta.dirname;
const src = join(here, "..", "src");

/** The names of the languages that have a file. */
export const names = () =>
  readdirSync(here)
    .filter((f) => /^[a-z]{2}\.json$/.test(f))
    .map((f) => f.slice(0, 2))
    .sort();

/** The texts of a language by their English; an entry "Open@alarm" holds for the folder src/alarm alone. */
export const read = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(join(here, `${name}.json`), "utf8"));

/** The reasons of a language by their English: what the page loads when it has nothing else to do. */
export const readReasons = (name: string): Record<string, string> =>
  JSON.parse(readFileSync(join(here, "reasons", `${name}.json`), "utf8"));

/** Whether a source has words of the page. */
export const hasWords = (file: string) =>
  /\.tsx?$/.test(file) &&
  !/\.test\.tsx?$|\/generated\/|\/testdata\/|testing\.ts$|\/src\/first\.ts$|\/language\/(words|hash|pseudo|choice|said)\.ts$/.test(
    file,
  );

/** The key by which a source looks a text up: that of its folder if there is one. */
export function keyFor(english: string, file: string, has: (key: string) => boolean): string {
  const own = `${english}@${relative(src, file).split("/")[0]}`;
  return has(own) ? own : english;
}

/** Rewrites the sources of the page. */
export function wording(): Plugin {
  const keys = new Set(names().flatMap((n) => Object.keys(read(n))));
  return {
    name: "wording",
    enforce: "pre",
    transform(code, id) {
      const file = id.split("?")[0] ?? id;
      if (!file.startsWith(`${src}/`) || !hasWords(file)) return null;
      const named = (english: string) => keyFor(english, file, (k) => keys.has(k));
      const known = messages(file, code, named).filter((m) => keys.has(m.key));
      return { code: rewrite(code, known, "/src/language/words.ts"), map: null };
    },
  };
}

/** Shortens the files of languages. */
export const shortened = (): Plugin => ({
  name: "shortened",
  enforce: "pre",
  transform(_, id) {
    const file = id.split("?")[0] ?? id;
    return /\/languages\/(reasons\/)?[a-z]{2}\.json$/.test(file)
      ? { code: short(file), map: null }
      : null;
  },
});

/** A file of a language as a module, with short names instead of the English texts. */
function short(file: string): string {
  const table: Record<string, string> = {};
  for (const [english, text] of Object.entries(JSON.parse(readFileSync(file, "utf8")))) {
    if (text === "") continue;
    const name = hash(english);
    if (table[name] !== undefined) throw new Error(`${file}: two texts have the hash ${name}`);
    table[name] = String(text);
  }
  return JSON.stringify(table);
}
