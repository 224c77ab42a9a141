// The screen Regulation of a running node: a world from its beginning to a killed leader and lost messages.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";
import { startDemo } from "./demo";
import { phone } from "./harness";

const { url, token } = await startDemo();
const shots = process.env.VOLTBUS_SHOTS;

describe.skipIf(url === "")("the screen Regulation of a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  async function enter(page: Page) {
    await page.goto(`${url}/regulation#token=${encodeURIComponent(token)}`);
    await page.getByRole("heading", { level: 1, name: "Regulation" }).waitFor();
  }

  test("runs a world, kills its leader and loses messages", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page);
    const form = page.getByRole("form", { name: "Begin a world" });
    await form.getByRole("spinbutton", { name: "Buildings" }).fill("40");
    await form.getByRole("button", { name: "Begin" }).click();
    await page.getByLabel("Pace").selectOption("As fast as possible");
    const led = page.getByRole("region", { name: "With an elected leader" });
    await led.getByText(/^10\.0\.000\.000 leads in term 1\.$/).waitFor();
    await led
      .getByText(/^0\.[5-9]\d\d$/)
      .first()
      .waitFor();

    await page.getByLabel("Pace").selectOption("Paused");
    await page.getByLabel("Messages lost").selectOption("5 %");
    await page.getByRole("button", { name: "Kill the leader" }).click();
    await led.getByText("Nobody leads at this moment.").waitFor();
    const waits = page.getByRole("region", { name: "What waits next" });
    await waits.getByText(/another master begins/).waitFor();
    const trade = page.getByRole("region", { name: "By trade" });
    await trade.getByText("Nobody finds a price at this moment.").waitFor();
    await page.getByRole("button", { name: "10 minutes on" }).click();
    await trade.getByText("10.0.000.000 is the auctioneer.").waitFor();
    const market = page.getByRole("region", { name: "Market of the sites" });
    await market.getByRole("img", { name: /^Price over the last hour/ }).waitFor();
    await expect.poll(() => market.getByRole("row").count()).toBe(11);
    await led.getByText(/^10\.0\.000\.000 leads in term [2-9]\.$/).waitFor();
    await page.getByRole("img", { name: "Signal and response over the last hour" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/regulation-wide.png`, fullPage: true });
    expect(complaints).toEqual([]);
  });

  test("is read on a phone, and ends", async () => {
    const { page, complaints } = await openPage(browser, phone);
    await enter(page);
    await page.getByRole("region", { name: "Units by temperature" }).waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/regulation-phone.png`, fullPage: true });
    await page.getByRole("button", { name: "End the world" }).click();
    await page.getByRole("form", { name: "Begin a world" }).waitFor();
    expect(complaints).toEqual([]);
  });
});
