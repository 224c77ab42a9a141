// The page's words in the language of whoever reads it. The sources are English; the build turns their words into
// calls of say and show (languages/extract.ts). This module waits for the language's file before any other module
// of the page makes a sentence.

import { chosen, type Language, localeOf, preferences, preferred, pseudo } from "./choice";
import { hash } from "./hash";
import { once } from "./once";

/** Finds the translation of an English text; undefined where it stays English. */
export type Translate = (english: string) => string | undefined;

const files = import.meta.glob<Record<string, string>>("../../languages/??.json", {
  import: "default",
});

const reasonFiles = import.meta.glob<Record<string, string>>("../../languages/reasons/??.json", {
  import: "default",
});

/** The language of this page. */
export const language: Language | typeof pseudo = chosen() || preferred(preferences());

/** The locale of its numbers and dates. */
export const locale = localeOf(language, preferences());

/** The patterns of the sentences that a node makes; none in English. */
export let sentences: readonly string[] = [];

const spoken: Translate = await load();
let reasons: Record<string, string> = {};
const translate: Translate = (english) => spoken(english) ?? reasons[hash(english)];

/** Whether a text has a translation. */
export const isTranslated = (english: string) => translate(english) !== undefined;

async function load(): Promise<Translate> {
  const file = files[`../../languages/${language}.json`];
  try {
    if (language === pseudo) return (await import("./pseudo")).lengthened;
    if (!file) return () => undefined;
    const [table, patterns] = await Promise.all([file(), import("../generated/sentences.json")]);
    sentences = patterns.default;
    return (english) => table[hash(english)];
  } catch {
    // The page is of more use in English than not at all
    return () => undefined;
  }
}

/** Loads the reasons of the language, and returns their patterns. */
export async function loadReasons(): Promise<readonly string[]> {
  const file = reasonFiles[`../../languages/reasons/${language}.json`];
  if (!file) return [];
  try {
    const [table, patterns] = await Promise.all([file(), import("../generated/reasons.json")]);
    reasons = table;
    return patterns.default;
  } catch {
    // They stay English
    return [];
  }
}

const order = ["zero", "one", "two", "few", "many", "other"];

/** The plurals of the language, which English does not need: a browser takes long to read them. */
const plurals = once(() => {
  const rules = new Intl.PluralRules(locale);
  const known: readonly string[] = rules.resolvedOptions().pluralCategories;
  return { rules, categories: order.filter((c) => known.includes(c)) };
});
const whole = once(() => new Intl.NumberFormat(locale, { maximumFractionDigits: 0 }));

/** The form for a number: of two forms the first is for one, else they stand in the order of CLDR's categories. */
function form(forms: readonly string[], n: number): string {
  const { rules, categories } = plurals();
  const category = rules.select(n);
  const at = forms.length === 2 ? Number(category !== "one") : categories.indexOf(category);
  return forms[at] ?? forms[forms.length - 1] ?? "";
}

/** The English of a key: a text that one folder has for itself ends with its name. */
const plainEnglish = (key: string) => key.replace(/@[a-z]+$/, "");

const holes = /\{(\d+)(?:([#?])([^}]*))?\}/g;

/** A text in the page's language, with its values: {0}; {0#sample} a number with its noun; {0?is|are} a form alone. */
export function say(english: string, ...values: unknown[]): string {
  const found = translate(english);
  const text = found ?? plainEnglish(english);
  if (values.length === 0) return text;
  return text.replace(holes, (_, at: string, kind: string | undefined, words = "") =>
    String(
      kind
        ? counted(Number(values[Number(at)]), kind, words, found === undefined)
        : values[Number(at)],
    ),
  );
}

function counted(n: number, kind: string, words: string, english: boolean): string {
  const forms = words.split("|");
  const rest = english && forms.length === 1 ? [words, `${words}s`] : forms;
  const word = english ? (n === 1 ? rest[0] : rest[1]) : form(rest, n);
  return kind === "#" ? `${whole().format(n)} ${word}` : `${word}`;
}

/** As say, for text with elements between it: the children of an element. */
export function show(english: string, ...values: unknown[]): unknown[] {
  const found = translate(english);
  const children: unknown[] = [];
  let at = 0;
  const text = found ?? plainEnglish(english);
  for (const hole of text.matchAll(holes)) {
    if (hole.index > at) children.push(text.slice(at, hole.index));
    const value = values[Number(hole[1])];
    const [, , kind, words = ""] = hole;
    children.push(kind ? counted(Number(value), kind, words, found === undefined) : value);
    at = hole.index + hole[0].length;
  }
  if (at < text.length) children.push(text.slice(at));
  return children;
}

/** Marks the document as being in the page's language. Call it once, before drawing. */
export function markLanguage(): void {
  const root = document.documentElement;
  root.lang = language === pseudo ? "en" : language;
  root.dir = language === pseudo ? "rtl" : "ltr";
}
