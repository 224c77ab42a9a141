// Dashboards of a running node, a demonstration of its own: built by dragging and by keyboard, kept, restored, shown
// on a phone and on a wall.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";
import { startDemo } from "./demo";
import { phone } from "./harness";
import { attacks } from "./sites";

const { url, token } = await startDemo();
const shots = process.env.VOLTBUS_SHOTS;

const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 200 100"><rect id="room" width="200" height="100" ' +
  'fill="none" stroke="currentColor"/><text id="t1" x="20" y="50" fill="currentColor">?</text></svg>';

describe.skipIf(url === "")("dashboards of a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  async function enter(page: Page, path: string) {
    await page.goto(`${url}${path}#token=${encodeURIComponent(token)}`);
    await page.getByRole("main").waitFor();
  }
  const ask = async <T>(method: string, resource: string, body?: unknown): Promise<T> => {
    const response = await fetch(`${url}/api/v1/${resource}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as T;
  };
  const tile = (page: Page, n: number) => page.getByRole("group", { name: `Tile ${n},` });
  const places = async (page: Page) =>
    (await page.getByRole("group", { name: /^Tile \d/ }).all()).map((t) =>
      t.getAttribute("aria-label"),
    );
  const pick = async (page: Page, search: string, path: string) => {
    await page.getByLabel("Find a point").fill(search);
    const found = page.getByRole("list", { name: "Found points" });
    await found.getByRole("button", { name: path }).first().click();
  };

  test("are built with a drag, and kept", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, "/dashboards");
    await page.getByRole("link", { name: "New dashboard" }).click();
    const about = page.getByRole("form", { name: "About the dashboard" });
    await about.getByLabel("Title").fill(attacks[0] ?? "");
    await about.getByLabel("Name in its address").fill("plant");
    const add = page.getByRole("group", { name: "Add a tile" });
    await add.getByRole("button", { name: "Value" }).click();
    await page.getByText("Tile 1: Choose one point").waitFor();
    await pick(page, "boiler1/supply_temp", "demo/plant/boiler1/supply_temp");
    await add.getByRole("button", { name: "Trend" }).click();
    await pick(page, "boiler1/supply_temp", "demo/plant/boiler1/supply_temp");
    await pick(page, "boiler2/supply_temp", "demo/plant/boiler2/supply_temp");
    await page.getByRole("button", { name: "Done" }).click();
    expect(await Promise.all(await places(page))).toEqual([
      "Tile 1, Value: column 1, row 1, 3 wide, 2 high",
      "Tile 2, Trend: column 4, row 1, 6 wide, 5 high",
    ]);
    // The value goes onto the trend, which makes room below it
    const head = await tile(page, 1).locator(".tile-head").boundingBox();
    const board = await page.locator(".board").boundingBox();
    if (!head || !board) throw new Error("the tiles are not drawn");
    const cell = (board.width + 12) / 12;
    await page.mouse.move(head.x + 20, head.y + 10);
    await page.mouse.down();
    await page.mouse.move(head.x + 20 + cell, head.y + 10, { steps: 3 });
    await page.mouse.move(head.x + 20 + 4 * cell, head.y + 10, { steps: 5 });
    await page.mouse.up();
    await tile(page, 1).and(page.getByLabel("column 5, row 1, 3 wide")).waitFor();
    await tile(page, 2).and(page.getByLabel("column 4, row 3, 6 wide")).waitFor();
    // The corner makes it larger
    const corner = await tile(page, 1).locator(".tile-corner").boundingBox();
    if (!corner) throw new Error("the tile has no corner");
    await page.mouse.move(corner.x + 8, corner.y + 8);
    await page.mouse.down();
    await page.mouse.move(corner.x + 8 + 2 * cell, corner.y + 8 + 70, { steps: 5 });
    await page.mouse.up();
    await tile(page, 1).and(page.getByLabel("5 wide, 3 high")).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/dashboard-built.png` });
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: attacks[0] ?? "", level: 1 }).waitFor();
    await page.getByText("°C").first().waitFor();
    await page.getByRole("img", { name: "Trend of" }).locator("canvas").waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("are arranged by keyboard alone, and an earlier version comes back", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, "/dashboards/plant?all&edit");
    const said = page.getByRole("status", { name: "Arrangement" });
    await tile(page, 1).focus();
    await page.keyboard.press("ArrowLeft");
    await said.getByText("Moved to column 4, row 1").waitFor();
    await page.keyboard.press("Shift+ArrowRight");
    await said.getByText("Resized: 6 wide, 3 high").waitFor();
    await page.keyboard.press("ArrowUp");
    await said.getByText("It cannot go further").waitFor();
    await tile(page, 2).focus();
    await page.keyboard.press("Delete");
    await tile(page, 2).waitFor({ state: "detached" });
    await tile(page, 1).focus();
    await page.keyboard.press("Enter");
    const title = page.getByRole("form", { name: "Tile 1" }).getByLabel("Title");
    await expect.poll(() => title.evaluate((e) => e === document.activeElement)).toBe(true);
    await page.keyboard.press("Control+A");
    await page.keyboard.type("Hot water");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Hot water" }).waitFor();
    await page.getByRole("button", { name: "Save" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("button", { name: "History" }).press("Enter");
    const history = page.getByRole("region", { name: "History of the dashboard" });
    await history.getByText("Version 2,").waitFor();
    await history.getByRole("button", { name: "Restore version 1" }).press("Enter");
    await history.getByText("Version 1 is back").waitFor();
    type Kept = { version: number; dashboard: { tiles: unknown[] } };
    const kept = await ask<Kept>("GET", "dashboards/one?name=plant");
    expect([kept.version, kept.dashboard.tiles.length]).toEqual([3, 2]);
    expect(complaints).toEqual([]);
  });

  test("show a drawing with live values, refuse one that is not safe, and say what is missing", async () => {
    await ask("PUT", "dashboards", {
      name: "floor",
      tiles: [
        { kind: "picture", x: 0, y: 0, w: 8, h: 5, drawing: "floor" },
        { kind: "value", x: 8, y: 0, w: 4, h: 2, points: ["demo/none/temp"] },
        { kind: "trend", x: 8, y: 2, w: 4, h: 3, points: ["demo/none/temp", "demo/weather/temp"] },
        { kind: "map", x: 0, y: 5, w: 12, h: 4, sites: [{ name: "A", latitude: 1, longitude: 2 }] },
      ],
    });
    const { page, complaints } = await openPage(browser);
    await enter(page, "/dashboards/floor?all&edit");
    await page.getByRole("button", { name: "Change tile 1" }).click();
    const upload = page.getByLabel("Upload a drawing in SVG");
    const file = (name: string, text: string) => ({
      name,
      mimeType: "image/svg+xml",
      buffer: Buffer.from(text),
    });
    await upload.setInputFiles(file("Bad.svg", svg.replace("<text", "<script>x</script><text")));
    await page.getByText("line 1, <script>: scripts are not allowed").waitFor();
    await upload.setInputFiles(file("Floor.svg", svg));
    await page.getByRole("combobox", { name: /^Element/ }).selectOption("t1");
    await page.getByLabel("Point that it shows").fill("zone1/temp");
    await page
      .getByRole("list", { name: "Points to bind" })
      .getByRole("button", { name: "demo/office/zone1/temp" })
      .click();
    await page.getByText("t1 shows demo/office/zone1/temp as text").waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.locator(".picture text#t1").getByText("°C").waitFor();
    await page.getByText("no such point").first().waitFor();
    await page.getByText("The node has no point of this name").waitFor();
    if (shots) await page.screenshot({ path: `${shots}/dashboard-floor.png` });
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints.filter((c) => !c.includes("400") && !c.includes("404"))).toEqual([]);
  });

  test("stand in one column on a phone", async () => {
    for (const width of [320, 390]) {
      const viewport = { width, height: 844 };
      const { page, complaints } = await openPage(browser, { ...phone, viewport });
      await enter(page, "/dashboards/plant?all");
      await page.getByText("°C").first().waitFor();
      const boxes = await page
        .locator(".tile")
        .evaluateAll((all) => all.map((t) => Math.round(t.getBoundingClientRect().bottom)));
      expect(boxes).toHaveLength(2);
      expect([...boxes].sort((a, b) => a - b)).toEqual(boxes);
      expect(await sidewaysScroll(page)).toBe(0);
      expect(await seriousViolations(page)).toEqual([]);
      await enter(page, "/dashboards/plant?all&edit");
      await tile(page, 1).waitFor();
      expect(await sidewaysScroll(page)).toBe(0);
      expect(complaints).toEqual([]);
      await page.context().close();
    }
  });

  test("follow each other on a wall, without a menu", async () => {
    const { page, complaints } = await openPage(browser);
    await page.clock.install();
    await enter(page, "/dashboards/plant?all&kiosk&also=floor&every=20");
    await page.getByRole("heading", { name: attacks[0] ?? "", level: 1 }).waitFor();
    expect(await page.getByRole("navigation").count()).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    await page.clock.runFor(21_000);
    await page.getByRole("heading", { name: "floor", level: 1 }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("navigation").first().waitFor();
    expect(complaints).toEqual([]);
  });

  test("come by themselves for a device, and make the home page", async () => {
    const { page } = await openPage(browser);
    await enter(page, "/device/demo/office/ahu");
    await page.getByRole("link", { name: "Dashboard of this device" }).click();
    await page.getByText("taken for air handler").waitFor();
    await page.getByRole("link", { name: "Keep a copy" }).click();
    await page.getByLabel("Name in its address").fill("home");
    await page.getByLabel("Who sees it").selectOption("owner");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "ahu", level: 1 }).waitFor();
    await enter(page, "/");
    await page.getByRole("region", { name: "Verdict" }).waitFor();
    await page.getByRole("region", { name: "ahu" }).getByText("°C").first().waitFor();
  });
});
