// What a running node says of a mistake, in the language of whoever made it.

import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Beginning } from "./beginning";
import { launch, openPage } from "./browser";
import { startDemo } from "./demo";

const { url, token } = await startDemo();

const refused = {
  "de-DE": /ein Pfad darf nicht den Abschnitt \. oder \.\. haben/,
  "fr-FR": /un chemin ne doit pas avoir le segment \. ou \.\./,
  "es-ES": /una ruta no debe tener el segmento \. o \.\./,
};

const locales = Object.keys(refused) as (keyof typeof refused)[];

/** The texts of the page in a language by their English. */
function tableOf(locale: string): Record<string, string> {
  const read = (folder: string) => {
    const file = join(import.meta.dirname, folder, `${locale.slice(0, 2)}.json`);
    return JSON.parse(readFileSync(file, "utf8")) as Record<string, string>;
  };
  return { ...read("../languages/reasons"), ...read("../languages") };
}

/** The words of the page in a language. */
function words(locale: string): (english: string) => string {
  const table = tableOf(locale);
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

  const enter = async (path: string, locale: string) => {
    const { page } = await openPage(browser, { locale });
    await page.goto(`${url}${path}#token=${encodeURIComponent(token)}`);
    await page.getByRole("main").waitFor();
    return page;
  };
  const german = (path: string) => enter(path, "de-DE");

  test.each(locales)("says in %s what was done, and how it ended", async (locale) => {
    const page = await enter("/audit", locale);
    const say = words(locale);
    const entries = page.getByRole("region", { name: say("Entries") });
    await entries.getByRole("button", { name: say("Node started") }).waitFor();
    const actions = await entries.locator("td:nth-child(3)").allTextContents();
    const spoken = new Set(Object.values(tableOf(locale)));
    expect(actions.filter((text) => !spoken.has(text))).toEqual([]);
    await entries.getByRole("button", { name: say("Node started") }).click();
    await expect.poll(() => new URL(page.url()).search).toBe("?action=node.start");
  });

  test.each(locales)("says in %s what the experiments of the lab ask", async (locale) => {
    const page = await enter("/lab", locale);
    const table = tableOf(locale);
    const list = page.getByRole("region", { name: words(locale)("Experiments") });
    const titles = list.getByRole("heading", { level: 2 });
    await titles.getByText(words(locale)("Three million simulated meters")).waitFor();
    const texts = [
      ...(await titles.allTextContents()),
      ...(await list.locator("h2 + p").allTextContents()),
    ];
    expect(texts.length).toBeGreaterThan(100);
    const english = new Set(Object.keys(table).filter((text) => table[text] !== text));
    expect(texts.filter((text) => english.has(text) || /^How /.test(text))).toEqual([]);
  });

  test.each(locales)("says in %s what a node is", async (locale) => {
    const page = await enter("/node/demo", locale);
    const say = words(locale);
    const roles = page.locator("dt", { hasText: say("Roles") }).locator("+ dd");
    await roles.getByText(say("collector")).waitFor();
    const shown = ((await roles.textContent()) ?? "").split(", ");
    expect(shown.filter((role) => role in tableOf(locale))).toEqual([]);
  });

  test("says in German why it refuses a value", async () => {
    const page = await german("/device/demo/office/zone1");
    await page
      .getByRole("link", { name: /setpoint/ })
      .filter({ hasText: "Setzen" })
      .click();
    await page.getByLabel(/^Wert/).fill("999");
    await page.getByRole("button", { name: /^Setzen/ }).click();
    await page.getByRole("button", { name: "Jetzt setzen" }).click();
    await page
      .getByText('Abgewiesen: "999" passt nicht; schreiben Sie eine Zahl von 10 bis 30.')
      .waitFor();
  });

  test("says in German why it takes no document of such a name", async () => {
    const page = await german("/documents");
    await page.getByRole("button", { name: "Neues Dokument" }).click();
    const form = page.getByRole("form", { name: "Neues Dokument" });
    await form.getByLabel("Name des Agenten").fill("night agent");
    await form.getByRole("button", { name: "Schreiben" }).click();
    await page.getByRole("textbox").fill("a: 1");
    await page
      .getByRole("status", { name: "Prüfung" })
      .getByText(/^Nicht geprüft: muss agent\/<name>, device\/<path>.* oder shared sein$/)
      .waitFor();
  });

  test("says in German whom it does not let in", async () => {
    const { page } = await openPage(browser, { locale: "de-DE" });
    await page.goto(url);
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Anmelden" }).click();
    await page.getByText(/^Dieses Token ist ungültig\./).waitFor();
  });
});

const dead = `devices:
  campus/dead:
    driver: modbus
    interval: 1s
    config: {address: "127.0.0.1:1", registry: dead.csv}
`;

describe.skipIf(!process.env.VOLTBUS_BIN)("a node with a device that does not answer", () => {
  let browser: Browser;
  let node: Beginning;
  let page: Page;
  beforeAll(async () => {
    browser = await launch();
    node = await Beginning.in("german");
    await writeFile(join(node.dir, "dead.csv"), "name,address,type\nenergy,54,int32\n");
    await node.node(dead);
    ({ page } = await openPage(browser, { locale: "de-DE" }));
  });
  afterAll(async () => {
    await browser.close();
    await node.end();
  });

  const enter = (path: string) =>
    page.goto(`${node.url}${path}#token=${encodeURIComponent(node.token)}`);

  test("says in German why", async () => {
    await enter("/device/campus/dead");
    const why = /: nicht verbunden: Verbindung zu 127\.0\.0\.1:1: Verbindung abgelehnt; prüfen Sie/;
    await page.getByRole("region", { name: "Zustand" }).getByText(why).waitFor();
  });

  test("says in German what is wrong with a configuration", async () => {
    await enter("/settings");
    const editor = page.getByRole("textbox");
    const text = await editor.inputValue();
    await editor.fill(`${text}  campus/other:\n    driver: modbuss\n`);
    const problems = page.getByRole("list", { name: "Probleme des Textes" });
    await problems.getByText('"modbuss" ist kein Treiber; meinten Sie "modbus"?').waitFor();
    await editor.fill(
      `${text}  campus/other:\n    driver: modbus\n    interval: 1\n    config: {nonsense: 1}\n`,
    );
    await problems.getByText("1 hat keine Einheit; schreiben Sie 1s für Sekunden").waitFor();
    await problems
      .getByText(/unbekannter Schlüssel; schreiben Sie eines von transport, /)
      .waitFor();
    await problems.getByText(/ist leer; schreiben Sie eine Liste von Registern/).waitFor();
    await editor.fill(`${text} campus/x: 1\n`);
    await problems.getByText(/kein YAML: ein Schlüssel fehlt; richten Sie/).waitFor();
  });
});
