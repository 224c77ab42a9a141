// A language for tests of the layout: each English text is accented and some 40 % longer, so that a text that does
// not go through the languages, or does not fit, is seen.

const accents: Record<string, string> = { a: "á", e: "é", i: "í", o: "ó", u: "ú", n: "ñ", c: "ç" };

/** An English text, longer and accented; its placeholders stay. */
export function lengthened(english: string): string {
  const parts = english.split(/(\{[^}]*\})/);
  const accented = parts
    .map((part, i) =>
      i % 2 === 1
        ? part.replace(/([#?])([^|}]*)\}/, "$1$2|$2s}")
        : part.replace(/[aeiounc]/g, (c) => accents[c] ?? c),
    )
    .join("");
  const letters = english.replace(/\{[^}]*\}/g, "").length;
  // Words, not one long one: text of people breaks between them
  return accented + " ‹lóng›".repeat(Math.ceil((letters * 0.4) / 7));
}
