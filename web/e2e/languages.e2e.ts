import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { building } from "./sites";
import { AlarmStand, some as someAlarms } from "./stand-alarms";
import { AuditLog, morning } from "./stand-audit";
import { busy, Control } from "./stand-control";

const open = useBrowser();
const zone = "campus/hq/floor 2/zone 6/setpoint";
const pageOf = (path: string) => `/point/${path.split("/").map(encodeURIComponent).join("/")}`;

describe("a page in German", () => {
  const german = { locale: "de-AT" };

  test("is what a browser that prefers it gets, with its numbers", async () => {
    const { page, complaints } = await open({ site: building, address: "/", browser: german });
    await page.getByRole("heading", { name: "Übersicht" }).waitFor();
    await page
      .getByText(/Alle \d+ Geräte antworten; [\d.\u00a0]+ Messwerte aufgezeichnet/)
      .first()
      .waitFor();
    expect(await page.evaluate(() => document.documentElement.lang)).toBe("de");
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("commands 21.5 for 21,5, and never 215", async () => {
    const control = new Control(building);
    const { page } = await open({
      ...{ site: building, address: pageOf(zone), role: "operator", browser: german },
      ...{ handlers: control.handlers, began: control.began },
    });
    const form = page.getByRole("form", { name: "Den Datenpunkt setzen" });
    await form.getByLabel(/^Wert/).fill("21.500");
    await form.getByText("„21.500“ kann auf zwei Arten gemeint sein").waitFor();
    await form.getByLabel(/^Wert/).fill("21,5");
    await form.getByRole("button", { name: "Setzen …" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Jetzt setzen" }).click();
    await page.getByText("Erledigt: Das Gerät meldet 21,5 °C.").waitFor();
    expect(control.sent).toMatchObject([{ point: zone, value: 21.5 }]);
  });

  test("is left for another language in the menu, which this browser keeps", async () => {
    const { page } = await open({ site: building, address: "/", browser: german });
    await page.getByRole("combobox", { name: "Sprache" }).selectOption("es");
    await page.getByRole("heading", { name: "Resumen" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "Resumen" }).waitFor();
    await page.getByRole("combobox", { name: "Idioma" }).selectOption("en");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  test("loads the file of its language, and one in English none", async () => {
    const files: string[] = [];
    for (const locale of ["en-GB", "de-DE"]) {
      const { page } = await open({ site: building, address: "/", browser: { locale } });
      await page.getByRole("main").waitFor();
      files.push(
        ...(await page.evaluate(() =>
          performance
            .getEntriesByType("resource")
            .map((e) => e.name)
            .filter((n) => /\/assets\/(de|es|fr|sentences)-/.test(n))
            .map((n) => n.replace(/.*\/|-.*/g, "")),
        )),
      );
    }
    // The file of the reasons has the name of the language, too, and comes when the page has nothing else to do
    expect([...new Set(files)].sort()).toEqual(["de", "sentences"]);
  });
});

/** Opens a screen until it speaks the language: where networks change meanwhile, a browser breaks off what it loads. */
async function visit(page: Page, address: string) {
  for (let left = 3; left > 0; left--) {
    await page.goto(address);
    // The menu always speaks; a screen of which this stand-in knows nothing shows the answer of the node alone
    const spoken = page.locator("body", { hasText: "‹lóng›" }).getByRole("main");
    const found = await spoken.waitFor({ timeout: 8000 }).then(
      () => true,
      () => false,
    );
    if (found) return;
  }
  throw new Error(`${address} does not speak the language`);
}

/** Elements that cut their text, and do not show that they do. */
const cut = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll<HTMLElement>("main *, header *, nav *")]
      .filter((e) => {
        const style = getComputedStyle(e);
        const hides = style.overflowX === "hidden" || style.overflowX === "clip";
        const owns = [...e.childNodes].some((n) => n.nodeType === 3 && n.textContent?.trim());
        const isShown = e.clientWidth > 1 && e.checkVisibility();
        return (
          isShown &&
          hides &&
          owns &&
          style.textOverflow !== "ellipsis" &&
          e.scrollWidth > e.clientWidth + 1
        );
      })
      .map((e) => `${e.tagName} ${e.className}: ${e.textContent?.slice(0, 60)}`),
  );

describe("a language that is 40 % longer and runs from right to left", () => {
  const addresses = [
    "/",
    "/site",
    "/control",
    "/alarms",
    "/schedules",
    "/timeline",
    "/handover",
    "/explore",
    "/reports",
    "/ledger",
    "/documents",
    "/agents",
    "/lab",
    "/nodes",
    "/destinations",
    "/bus",
    "/settings",
    "/audit",
    "/people",
    "/welcome",
    "/device/campus/hq/floor%201/zone%201",
    pageOf(zone),
  ];
  test("fits a phone on each screen", async () => {
    const control = busy(building);
    const alarms = new AlarmStand(someAlarms());
    const log = new AuditLog([...morning]);
    const { page, node } = await open({
      ...{ site: building, address: "/", browser: phone, began: control.began },
      handlers: { ...control.handlers, ...alarms.handlers, ...log.handlers },
    });
    await page.evaluate(() => localStorage.setItem("voltbus-language", "xx"));
    const found: Record<string, unknown> = {};
    for (const address of addresses) {
      await visit(page, `${node.url}${address}`);
      const dir = await page.evaluate(() => document.documentElement.dir);
      expect(dir).toBe("rtl");
      const wrong = [...(await cut(page)), `${await sidewaysScroll(page)} px sideways`];
      if (wrong.length > 1 || wrong[0] !== "0 px sideways") found[address] = wrong;
      if (process.env.SHOTS)
        await page.screenshot({
          path: `${process.env.SHOTS}/xx${address.replaceAll(/[^a-z]/g, "-")}.png`,
        });
    }
    expect(found).toEqual({});
  });
});
