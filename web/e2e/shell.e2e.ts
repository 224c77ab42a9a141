import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";
import { building } from "./sites";
import { Stand, token } from "./stand";

let browser: Browser;
let node: Stand;

beforeAll(async () => {
  browser = await launch();
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await node.stop();
});

afterAll(() => browser.close());

/** Opens a screen of a new node; requests for what is withheld fail. */
async function opened(address = "/", options = {}, withheld?: string) {
  node = new Stand(building);
  await node.start();
  const watched = await openPage(browser, options);
  if (withheld) await watched.page.route(withheld, (route) => route.abort());
  await watched.page.goto(`${node.url}${address}#token=${token}`);
  await watched.page.getByRole("main").waitFor();
  return watched;
}

const phone = { viewport: { width: 390, height: 844 }, hasTouch: true };

describe("the ways between screens", () => {
  test("go without loading the page anew, and name the tab", async () => {
    const { page, complaints } = await opened();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.evaluate(() => Object.assign(window, { sameDocument: true }));
    await page.getByRole("link", { name: "Site", exact: true }).click();
    await page.getByRole("heading", { name: "Plot" }).waitFor();
    await expect.poll(() => page.title()).toBe("Site · Voltbus");
    expect(await page.evaluate(() => "sameDocument" in window)).toBe(true);
    await page.goBack();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await expect.poll(() => page.title()).toBe("Overview · Voltbus");
    expect(complaints).toEqual([]);
  });

  test("move the focus to the new screen", async () => {
    const { page } = await opened();
    await page.getByRole("link", { name: "Site", exact: true }).click();
    await page.getByRole("heading", { name: "Plot" }).waitFor();
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
  });

  test("are a key away", async () => {
    const { page } = await opened();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("g");
    await page.keyboard.press("s");
    await page.getByRole("heading", { name: "Plot" }).waitFor();
    await page.getByRole("searchbox", { name: "Filter points" }).focus();
    await page.keyboard.type("go");
    expect(new URL(page.url()).pathname).toBe("/site");
  });

  test("can be skipped by keyboard", async () => {
    const { page } = await opened();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.keyboard.press("Tab");
    await page.getByRole("link", { name: "Skip to the content" }).press("Enter");
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe("main");
  });

  test("of a phone stand at the bottom and behind More", async () => {
    const { page } = await opened("/", phone);
    await page.getByRole("link", { name: "Site", exact: true }).tap();
    await page.getByRole("heading", { name: "Plot" }).waitFor();
    await page.getByRole("button", { name: "More" }).tap();
    await page.getByRole("dialog", { name: "More screens" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Dark colours" }).tap();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    expect(await sidewaysScroll(page)).toBe(0);
  });

  test("of old links lead to the site", async () => {
    const { page } = await opened("/?branch=campus%2Fhq%2Fahu1&points=campus%2Fhq%2Fahu1%2Ffan+on");
    await page.getByRole("heading", { name: "campus/hq/ahu1" }).waitFor();
    const { pathname, searchParams } = new URL(page.url());
    expect(pathname).toBe("/site");
    expect(searchParams.getAll("point")).toEqual(["campus/hq/ahu1/fan on"]);
  });

  test("to nowhere say so", async () => {
    const { page } = await opened("/nowhere");
    await page.getByRole("heading", { name: "There is no such screen" }).waitFor();
    await page.getByRole("link", { name: "Go to the overview" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });
});

describe("a screen that nobody visited", () => {
  test("opens while the node is down, because its code was brought ahead", async () => {
    const { page } = await opened();
    await expect
      .poll(
        () => page.evaluate(() => performance.getEntriesByType("resource").map((r) => r.name)),
        { timeout: 30_000 },
      )
      .toContainEqual(expect.stringContaining("/assets/people-"));
    await page.context().setOffline(true);
    await page.getByRole("link", { name: "People", exact: true }).click();
    await page.getByRole("heading", { name: "People", exact: true }).waitFor();
  });

  test("says that it opens when the node is back, and does", async () => {
    const { page } = await opened("/", {}, "**/assets/people-*.js");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await node.stop();
    await page.getByText("The node has not answered").first().waitFor();
    await page.getByRole("link", { name: "People", exact: true }).click();
    await page.getByRole("heading", { name: "People opens when the node is back" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.unroute("**/assets/people-*.js");
    await node.start();
    await page.getByRole("heading", { name: "People", exact: true }).waitFor();
  });
});

describe("a screen whose code is gone", () => {
  test("says so, and the others still work", async () => {
    const { page } = await opened("/", { serviceWorkers: "block" }, "**/assets/site-*.js");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByRole("link", { name: "Site", exact: true }).click();
    await page.getByRole("heading", { name: "Site could not be loaded" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });
});

describe("a file that the network loses", () => {
  const titled = (page: Page) =>
    page.evaluate(() => getComputedStyle(document.querySelector("h1") ?? document.body).fontSize);

  test.each([
    ["the code of a screen", "**/assets/site-*.js", "/site", "Plot", 3],
    ["the code of every screen", "**/assets/shell-*.js", "/site", "Plot", 2],
    ["the styles of every screen", "**/assets/index-*.css", "/", "Overview", 2],
    ["the first file of all", "**/assets/index-*.js", "/", "Overview", 1],
  ] as const)("comes by itself: %s", async (_, file, address, heading, times) => {
    node = new Stand(building);
    await node.start();
    const { page } = await openPage(browser);
    let asked = 0;
    await page.route(file, (route) => (asked++ < times ? route.abort() : route.continue()));
    await page.goto(`${node.url}${address}#token=${token}`);
    await page.getByRole("heading", { name: heading }).waitFor();
    await expect.poll(() => asked).toBe(times + 1);
    await expect.poll(() => titled(page)).not.toBe("32px"); // that of a page without styles
  });
});

describe("the colours", () => {
  test("are chosen, kept, and given back to the system", async () => {
    const { page } = await opened("/", { colorScheme: "light" });
    const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
    expect(await theme()).toBe("light");
    await page.getByRole("button", { name: "Dark colours" }).click();
    expect(await theme()).toBe("dark");
    await page.reload();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    expect(await theme()).toBe("dark");
    await page.getByRole("button", { name: "Colours as the system has them" }).click();
    expect(await theme()).toBe("light");
    await page.emulateMedia({ colorScheme: "dark" });
    await expect.poll(theme).toBe("dark");
  });
});

describe("the first load", () => {
  test("is below 60 kB, and a screen's code comes later", () => {
    const dist = join(import.meta.dirname, "../dist");
    const html = readFileSync(join(dist, "index.html"), "utf8");
    const files = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((m) => m[1] ?? "");
    expect(files.some((f) => f.endsWith(".js"))).toBe(true);
    const late = /\/(overview|site|device|settings|people|welcome|explorer|plot|bus|lab|ledger)-/;
    expect(files.filter((f) => late.test(f))).toEqual([]);
    const sizes = files.map((f) => readFileSync(join(dist, `${f}.gz`)).length);
    expect(sizes.reduce((a, b) => a + b, html.length)).toBeLessThan(60_000);
  });
});
