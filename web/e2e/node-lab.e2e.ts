// The lab of a running node, a demonstration of its own.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations } from "./browser";
import { startDemo } from "./demo";

const { url, token } = await startDemo();
const experiment = "ingest-line-protocol";
const whole = { timeout: 240_000 };

const form = (page: Page) => page.getByRole("form", { name: "Run it" });

async function start(page: Page) {
  await page.goto(`${url}/lab?experiment=${experiment}`);
  await form(page)
    .getByRole("spinbutton", { name: /repeats/i })
    .fill("1");
  await form(page)
    .getByRole("textbox", { name: /^window/ })
    .fill("5s");
  await form(page).getByRole("button", { name: "Run" }).click();
  await page.getByRole("status").getByText("measuring").waitFor(whole);
}

describe.skipIf(url === "")("the lab of a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  test("stops a run, and shows another one until its report", { timeout: 600_000 }, async () => {
    const { page, complaints } = await openPage(browser);
    await page.goto(`${url}/lab#token=${encodeURIComponent(token)}`);
    await page.getByRole("list").getByRole("heading", { level: 2 }).first().waitFor();

    await start(page);
    await page.getByRole("button", { name: "Stop the run" }).click();
    await page.getByText("stopped", { exact: true }).waitFor(whole);

    await start(page);
    await page
      .getByRole("img", { name: /over time/ })
      .first()
      .waitFor(whole);
    await page.getByRole("region", { name: "Figures of each case" }).waitFor(whole);
    expect(await seriousViolations(page)).toEqual([]);
    const link = page.getByRole("link", { name: "Open the report" });
    const report = await page.context().newPage();
    await report.goto(new URL((await link.getAttribute("href")) ?? "", url).href);
    await report.getByRole("heading", { name: "How it went" }).waitFor();
    await report.getByRole("img", { name: "a second over seconds of the last repeat" }).waitFor();
    expect(complaints).toEqual([]);
  });
});
