// Against a running node, a demonstration of its own.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage } from "./browser";
import { startDemo } from "./demo";
import { drawsPlot, fitsEverybody, logsInByLink, saysHealth, showsLiveValues } from "./promises";

const { url, token } = await startDemo();

describe.skipIf(url === "")("a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  test("shows live values and a plot without a click", async () => {
    const { page, complaints } = await openPage(browser);
    await logsInByLink(page, url, token);
    await showsLiveValues(page);
    await drawsPlot(page);
    await saysHealth(page);
    await fitsEverybody(page);
    expect(complaints).toEqual([]);
  });

  test("explores, proves, looks into the bus and lists experiments", async () => {
    const { page, complaints } = await openPage(browser);
    await page.goto(`${url}/explore?range=1h#token=${encodeURIComponent(token)}`);
    await page.getByRole("list", { name: "Found points" }).getByRole("checkbox").first().check();
    await page.locator(".extremes").first().waitFor();
    await page.goto(`${url}/ledger`);
    await page.getByRole("status", { name: "Account" }).getByText("sample").waitFor();
    await page.goto(`${url}/bus`);
    await page
      .getByRole("region", { name: "Newest messages" })
      .locator("summary")
      .first()
      .waitFor();
    await page.getByRole("button", { name: "live", exact: true }).waitFor();
    await page
      .getByRole("region", { name: "List of connections" })
      .getByRole("row")
      .nth(1)
      .waitFor();
    await page.goto(`${url}/lab`);
    await page.getByRole("list").getByRole("heading", { level: 2 }).first().waitFor();
    expect(complaints).toEqual([]);
  });
});
