// What a running node says of a mistake, in the language of whoever made it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage } from "./browser";
import { startDemo } from "./demo";

const { url, token } = await startDemo();

const refused = {
  "de-DE": /ein Pfad darf nicht den Abschnitt \. oder \.\. haben/,
  "fr-FR": /un chemin ne doit pas avoir le segment \. ou \.\./,
  "es-ES": /una ruta no debe tener el segmento \. o \.\./,
};

const locales = Object.keys(refused) as (keyof typeof refused)[];

/** The words of the page in a language. */
function words(locale: string): (english: string) => string {
  const file = join(import.meta.dirname, `../languages/${locale.slice(0, 2)}.json`);
  const table: Record<string, string> = JSON.parse(readFileSync(file, "utf8"));
  return (english) => table[english] ?? english;
}

describe.skipIf(url === "")("a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  test.each(locales)("says in %s why it refuses a path", async (locale) => {
    const { page, complaints } = await openPage(browser, { locale });
    const say = words(locale);
    await page.goto(`${url}/reports#token=${encodeURIComponent(token)}`);
    await page.getByRole("button", { name: say("New report…") }).click();
    const form = page.getByRole("form", { name: say("New report") });
    await form.getByLabel(say("Name"), { exact: true }).fill("second");
    await form.getByLabel(say("Title")).fill("T");
    await form.getByLabel(say("Points, one in a line")).fill("a/../b");
    await form.getByRole("button", { name: say("Make the report") }).click();
    await form.getByRole("alert").getByText(refused[locale]).waitFor();
    const unexpected = complaints.filter((c) => !c.includes("400"));
    expect(unexpected).toEqual([]);
  });
});
