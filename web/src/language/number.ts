// Numbers as the page's language writes them, and as people type them.

import { locale } from "./words";

const formats = new Map<string, Intl.NumberFormat>();

/** A number with at most, and at least, so many decimals, in groups of thousands. */
export function decimal(n: number, most: number, least = 0): string {
  const key = `${most} ${least}`;
  let format = formats.get(key);
  if (!format) {
    format = new Intl.NumberFormat(locale, {
      maximumFractionDigits: most,
      minimumFractionDigits: least,
    });
    formats.set(key, format);
  }
  return format.format(n);
}

/** A number with the decimals of toFixed, in the page's language. */
export const fixed = (n: number, decimals: number) => decimal(n, decimals, decimals);

const pointOf = (tag: string) =>
  new Intl.NumberFormat(tag).formatToParts(1.5).find((p) => p.type === "decimal")?.value ?? ".";

/**
 * A number that somebody typed; NaN if it is none. A comma and a point are both taken for the decimal sign, whatever
 * the language, so that 21,5 is never 215. What reads as thousands in this language, such as 1.500 in German, is no
 * number: it may be meant either way.
 */
export function numeral(text: string, tag: string = locale): number {
  const typed = text.trim();
  if (typed === "" || inDoubt(typed, tag)) return Number.NaN;
  return Number(/^[^.,]*[.,][^.,]*$/.test(typed) ? typed.replace(",", ".") : typed);
}

/** Whether a typed number may be meant with a decimal sign or with thousands. */
export function inDoubt(text: string, tag: string = locale): boolean {
  const [, sign] = /^[+-]?[1-9]\d{0,2}([.,])\d{3}$/.exec(text.trim()) ?? [];
  return sign !== undefined && sign !== pointOf(tag);
}

/** What is wrong with a typed number: what to write if it may be meant in two ways, else the given words. */
export function wrongNumber(text: string, otherwise: string, tag: string = locale): string {
  if (!inDoubt(text, tag)) return otherwise;
  const typed = text.trim();
  const plain = typed.replace(/[.,]/, "");
  return `“${typed}” may be meant in two ways: write ${plain}, or ${typed.replace(/[.,]/, pointOf(tag))}.`;
}
