import { expect, test } from "vitest";
import { hash } from "../src/language/hash";
import { catalogue, fault, reasons, update } from "./catalogue";
import { names, read, readReasons } from "./plugin";

// While it is false, languages may lack texts and have some that nobody says any more.
const complete: boolean = true;

const wanted = catalogue();
const why = reasons(wanted);
const tables = names().flatMap((name) => [
  { file: name, table: read(name), wanted },
  { file: `reasons/${name}`, table: readReasons(name), wanted: why },
]);

// npm run words
test.runIf(process.env.WORDS)("the files of the languages are brought up to date", () => {
  for (const t of tables) update(t.file, t.table, t.wanted);
});

test("the sources are read", () => {
  expect(wanted.size).toBeGreaterThan(2000);
});

test.each(tables)("the texts of $file are those of the page", ({ file, table, wanted }) => {
  if (!complete) return;
  const stale = Object.keys(table).filter((key) => !wanted.has(key));
  expect(stale, `Nobody says these any more. Run: npm run words`).toEqual([]);
  const missing = [...wanted].filter(([key]) => !table[key]).map(([key, at]) => `${key} (${at})`);
  const hint = `Run npm run words, and fill in the empty texts of languages/${file}.json.`;
  expect(missing, hint).toEqual([]);
});

test.each(tables)("the texts of $file have the values of the English ones", ({ table }) => {
  const wrong = Object.entries(table)
    .filter(([, text]) => text !== "")
    .map(([key, text]) => [key, fault(key, text)])
    .filter(([, words]) => words !== "");
  expect(wrong).toEqual([]);
});

test("no text has the short name of another, also in the other file", () => {
  const all = [...wanted.keys(), ...why.keys()];
  expect(new Set(all.map(hash)).size).toBe(all.length);
});
