// Which language the page speaks: what was chosen in this browser, else what the browser prefers.

/** The languages of the page as they call themselves, in the order of the menu. */
export const languages = {
  en: "English",
  de: "Deutsch",
  es: "Español",
  fr: "Français",
} as const;
export type Language = keyof typeof languages;

const key = "voltbus-language";

/** The language that the tests of the layout use: English that is longer, accented, and runs from right to left. */
export const pseudo = "xx";

const isLanguage = (text: string): text is Language => Object.hasOwn(languages, text);

/** The language of a list of preferences, such as de-AT, fr; English if it has none that the page speaks. */
export function preferred(list: readonly string[]): Language {
  for (const tag of list) {
    const short = tag.toLowerCase().split("-")[0] ?? "";
    if (isLanguage(short)) return short;
  }
  return "en";
}

/** The locale for numbers and dates: the browser's own kind of the language, such as es-MX, if it names one. */
export function localeOf(language: string, list: readonly string[]): string {
  if (language === "en" || language === pseudo) return "en-US";
  return list.find((tag) => tag.toLowerCase().startsWith(`${language}-`)) ?? language;
}

/** What was chosen in this browser, "" if nothing. */
export function chosen(): Language | typeof pseudo | "" {
  const found = kept();
  return isLanguage(found) || found === pseudo ? found : "";
}

/** What this browser keeps; without storage, such as in a test or with cookies refused, nothing. */
function kept(): string {
  try {
    return globalThis.localStorage?.getItem(key) ?? "";
  } catch {
    return "";
  }
}

/** Chooses a language, "" for that of the browser, keeps it in this browser, and loads the page anew in it. */
export function choose(language: Language | ""): void {
  if (language === "") localStorage.removeItem(key);
  else localStorage.setItem(key, language);
  location.reload();
}

/** What the browser prefers. */
export const preferences = (): readonly string[] => globalThis.navigator?.languages ?? [];
