// Every screen of a running node on a phone: what can be touched is large enough, and nothing is wider than the narrowest phone.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, sidewaysScroll, smallTargets, tooWide } from "./browser";
import { startDemo } from "./demo";
import { phone } from "./harness";

const { url, token } = await startDemo();
const shots = process.env.VOLTBUS_SHOTS;

const addresses = [
  "/",
  "/site",
  "/control",
  "/alarms",
  "/dashboards",
  "/alerts",
  "/schedules",
  "/timeline",
  "/handover",
  "/explore",
  "/reports",
  "/ledger",
  "/metering",
  "/agents",
  "/lab",
  "/regulation",
  "/system",
  "/nodes",
  "/destinations",
  "/documents",
  "/bus",
  "/settings",
  "/audit",
  "/people",
  "/device/demo/office/zone1",
  "/point/demo/annex/ahu/enable",
  "/welcome",
];

/** The headings beside the values of the cards that tables are. */
const cards = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll(".as-cards td")].map((cell) =>
      getComputedStyle(cell, "::before").content.replaceAll('"', ""),
    ),
  );

describe.skipIf(url === "")("on a phone", () => {
  let browser: Browser;
  let page: Page;
  beforeAll(async () => {
    browser = await launch();
    ({ page } = await openPage(browser, { ...phone, isMobile: true }));
    await page.goto(`${url}/#token=${encodeURIComponent(token)}`);
    await page.getByRole("main").waitFor();
  });
  afterAll(() => browser.close());

  async function show(address: string, width: number) {
    await page.setViewportSize({ width, height: 844 });
    await page.goto(url + address);
    await page.getByRole("main").waitFor();
    await page.waitForFunction(() => document.querySelector("main .asking") === null);
  }

  test.each(addresses)("%s can be touched, and is not wider than 320 pixels", async (address) => {
    await show(address, 390);
    if (shots) {
      const name = address.replaceAll("/", "-");
      await page.screenshot({ path: `${shots}/phone${name}.png`, fullPage: true });
    }
    expect(await smallTargets(page, 44)).toEqual([]);
    if (address === "/ledger") expect(await cards(page)).toContain("Produced");
    await page.setViewportSize({ width: 320, height: 700 });
    expect(await tooWide(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBe(0);
  });
});
