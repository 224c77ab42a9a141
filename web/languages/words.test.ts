import { expect, test } from "vitest";
import { catalogue, fault, update } from "./catalogue";
import { names, read } from "./plugin";

// While it is false, languages may lack texts and have some that nobody says any more.
const complete: boolean = true;

const wanted = catalogue();

// npm run words
test.runIf(process.env.WORDS)("the files of the languages are brought up to date", () => {
  for (const name of names()) update(name, wanted);
});

test("the sources are read", () => {
  expect(wanted.size).toBeGreaterThan(2000);
});

test.each(names())("the texts of %s are those of the page", (name) => {
  const table = read(name);
  if (!complete) return;
  const stale = Object.keys(table).filter((key) => !wanted.has(key));
  expect(stale, `Nobody says these any more. Run: npm run words`).toEqual([]);
  const missing = [...wanted].filter(([key]) => !table[key]).map(([key, at]) => `${key} (${at})`);
  const hint = `Run npm run words, and fill in the empty texts of languages/${name}.json.`;
  expect(missing, hint).toEqual([]);
});

test.each(names())("the texts of %s have the values of the English ones", (name) => {
  const wrong = Object.entries(read(name))
    .filter(([, text]) => text !== "")
    .map(([key, text]) => [key, fault(key, text)])
    .filter(([, words]) => words !== "");
  expect(wrong).toEqual([]);
});
