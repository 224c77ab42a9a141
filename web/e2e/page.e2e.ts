import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { curvePixels, launch, openPage, seriousViolations, sidewaysScroll } from "./browser";
import { drawsPlot, fitsEverybody, logsInByLink, saysHealth, showsLiveValues } from "./promises";
import { attacks, building, hostile, large, type Site, troubled } from "./sites";
import { Stand, token } from "./stand";

let browser: Browser;
let stand: Stand | undefined;

beforeAll(async () => {
  browser = await launch();
});

afterEach(async () => {
  for (const context of browser.contexts()) await context.close();
  await stand?.stop();
});

afterAll(() => browser.close());

async function standFor(site: Site): Promise<Stand> {
  const made = new Stand(site);
  stand = made;
  await made.start();
  return made;
}

async function loggedIn(site: Site, query = "") {
  const node = await standFor(site);
  const watched = await openPage(browser);
  await watched.page.goto(`${node.url}/site${query}#token=${token}`);
  await watched.page.getByRole("heading", { name: "Plot" }).waitFor();
  return { node, ...watched };
}

const health = (page: Page) => page.getByRole("status", { name: "Health" });
const connection = (page: Page) => page.getByRole("status", { name: "Connection" });
const row = (page: Page, name: string) =>
  page.getByRole("region", { name: "Live values" }).getByRole("row", { name });

describe("the first visit", () => {
  test("shows live values and a plot without a click", async () => {
    const node = await standFor(building);
    const { page, complaints } = await openPage(browser);
    await logsInByLink(page, node.url, token);
    await showsLiveValues(page);
    await drawsPlot(page);
    await saysHealth(page);
    expect(await health(page).textContent()).toMatch(
      /^All 10 devices answer; [\d,]+ samples recorded, none lost$/,
    );
    await fitsEverybody(page);
    expect(complaints).toEqual([]);
  });

  test("prefers a device that is not simulated", async () => {
    const { page } = await loggedIn(building);
    await expect
      .poll(() => new URL(page.url()).searchParams.get("branch"))
      .toBe("campus/plant/boiler1");
    expect(new URL(page.url()).searchParams.getAll("point")).toEqual([
      "campus/plant/boiler1/supply_temp",
      "campus/plant/boiler1/return_temp",
    ]);
  });
});

describe("the login", () => {
  test("refuses a wrong token in words and takes the right one", async () => {
    const node = await standFor(building);
    const { page } = await openPage(browser);
    await page.goto(node.url);
    await page.getByLabel("Token").fill("wrong");
    await page.getByRole("button", { name: "Log in" }).click();
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("not valid");
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByLabel("Token").fill(token);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel("Token").waitFor();
  });

  test("comes back when the node has forgotten the session", async () => {
    const { node, page } = await loggedIn(building);
    node.forget();
    await page.getByLabel("Token").waitFor();
    expect(await page.getByRole("alert").textContent()).toContain("Your session ended");
  });
});

describe("a link", () => {
  test("reproduces branch, points and range", async () => {
    const query =
      "?branch=campus%2Fhq%2Fahu1&point=campus%2Fhq%2Fahu1%2Ffan+speed&point=campus%2Fhq%2Fahu1%2Ffan+on&range=1d";
    const { page } = await loggedIn(building, query);
    await page.getByRole("heading", { name: "campus/hq/ahu1" }).waitFor();
    expect(await page.getByRole("button", { name: "1 day" }).getAttribute("aria-pressed")).toBe(
      "true",
    );
    await expect.poll(() => curvePixels(page, 0)).toBeGreaterThan(100);
    await expect.poll(() => curvePixels(page, 1)).toBeGreaterThan(50);
    expect(await row(page, "fan speed").getByRole("checkbox").isChecked()).toBe(true);
    expect(new URL(page.url()).search).toBe(query);
  });

  test("goes back to what was shown before", async () => {
    const { page } = await loggedIn(building);
    await page.getByRole("treeitem", { name: "weather" }).click();
    await page.getByRole("heading", { name: "campus/weather" }).waitFor();
    await page.goBack();
    await page.getByRole("heading", { name: "campus/plant/boiler1" }).waitFor();
  });
});

describe("the plot", () => {
  test("takes points by tick and gives them back", async () => {
    const { page } = await loggedIn(building);
    await row(page, "flow").getByRole("checkbox").check();
    await expect.poll(() => curvePixels(page, 2)).toBeGreaterThan(100);
    await page.getByRole("button", { name: /^Remove .*flow from the plot$/ }).click();
    await expect.poll(() => curvePixels(page, 2)).toBeLessThan(20);
  });

  test("zooms by drag, says so in the address, and goes live again", async () => {
    const { page } = await loggedIn(building);
    await drawsPlot(page);
    const box = await page.getByRole("img", { name: /^Plot of / }).boundingBox();
    if (!box) throw new Error("the plot has no box");
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.4, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.6, y, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => page.url()).toContain("from=");
    const { searchParams } = new URL(page.url());
    const width =
      Date.parse(searchParams.get("to") ?? "") - Date.parse(searchParams.get("from") ?? "");
    expect(width / 60_000).toBeGreaterThan(2);
    expect(width / 60_000).toBeLessThan(5);
    await page.getByRole("button", { name: "1 h", exact: true }).click();
    await expect.poll(() => page.url()).toContain("range=1h");
  });

  test("says in words how complete it is", async () => {
    const { page } = await loggedIn(building);
    await page.getByText(/% complete: [\d,]+ of [\d,]+ expected samples are there/).waitFor();
  });
});

describe("the tree", () => {
  test("is walked and chosen from by keyboard", async () => {
    const { page } = await loggedIn(building);
    await page.getByRole("tree", { name: "Site" }).focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Whole site" }).waitFor();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowLeft");
    const campus = page.getByRole("treeitem", { name: "campus" });
    await expect.poll(() => campus.getAttribute("aria-expanded")).toBe("false");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press(" ");
    await page.getByRole("heading", { name: "campus/hq" }).waitFor();
  });

  test("narrows with the filter", async () => {
    const { page } = await loggedIn(building);
    await page.getByRole("searchbox", { name: "Filter points" }).fill("zone 3 co2");
    await expect
      .poll(() => page.getByRole("treeitem").allTextContents())
      .toEqual(["Whole site1", "campus1", "hq1", "floor 11", "zone 31"]);
  });

  test("counts bad points on the way to them", async () => {
    const { page } = await loggedIn(troubled);
    await page.getByRole("treeitem", { name: /^plant 4 bad/ }).waitFor();
    await page.getByRole("treeitem", { name: /^meter 3 bad/ }).waitFor();
  });
});

describe("trouble", () => {
  test("of a device is told in plain words", async () => {
    const { page } = await loggedIn(troubled, "?branch=campus");
    await expect
      .poll(() => health(page).textContent())
      .toMatch(/^1 of 10 devices does not answer \(meter\); /);
    const item = page.getByRole("listitem").filter({ hasText: "meter" });
    await item.getByText("Check its power, cable and address.").waitFor();
    await item.getByText("connection refused").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("of the link is told, and the page reconnects by itself", async () => {
    const { node, page } = await loggedIn(building);
    await showsLiveValues(page);
    await node.stop();
    await expect
      .poll(() => connection(page).textContent(), { timeout: 15_000 })
      .toContain("has not answered since");
    await node.start();
    await expect
      .poll(() => connection(page).textContent(), { timeout: 20_000 })
      .toBe("Connected again.");
    await expect.poll(() => health(page).textContent()).toContain("none lost");
    await showsLiveValues(page);
  });
});

describe("a hostile device", () => {
  test("is shown as text and nothing else", async () => {
    const node = await standFor(hostile);
    const { page, complaints } = await openPage(browser);
    await page.goto(`${node.url}/site?branch=#token=${token}`);
    await page.getByRole("heading", { name: "Plot" }).waitFor();
    for (const attack of attacks.slice(0, 3)) {
      const cell = row(page, `says ${attack}`).locator("td.value");
      await expect.poll(() => cell.textContent()).toContain(attack);
    }
    await row(page, `0/${attacks[0]}/${attacks[0]}`).getByRole("checkbox").check();
    await drawsPlot(page);
    await page.getByRole("treeitem", { name: /^hostile 1/ }).click();
    await page.getByRole("heading", { name: "hostile 1" }).waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await page.locator("img, iframe, object, style, script:not([src])").count()).toBe(0);
    expect(await page.locator("script").count()).toBe(2);
    expect(complaints).toEqual([]);
    await page.setViewportSize({ width: 360, height: 740 });
    await expect.poll(() => sidewaysScroll(page)).toBe(0);
  });
});

describe("a large site", () => {
  test("keeps only the rows on screen, and scrolls to the rest", async () => {
    const { page } = await loggedIn(large, "?branch=");
    const table = page.getByRole("region", { name: "Live values" });
    await table.getByRole("row", { name: "hall 0/device 0/register 0" }).first().waitFor();
    expect(await page.getByRole("table").first().getAttribute("aria-rowcount")).toBeTruthy();
    expect(await table.getByRole("row").count()).toBeLessThan(60);
    await table.focus();
    await page.keyboard.press("End");
    await table.getByRole("row", { name: "hall 4/device 49/register 19" }).waitFor();
  });
});
