// What happened at a running node, a demonstration of its own.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";
import { startDemo } from "./demo";
import { phone } from "./harness";

const { url, token } = await startDemo();
const shots = process.env.VOLTBUS_SHOTS;

describe.skipIf(url === "")("what happened at a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  async function enter(page: Page, path: string) {
    await page.goto(`${url}${path}#token=${encodeURIComponent(token)}`);
    await page.getByRole("main").waitFor();
  }

  test("is told in sentences, filtered and searched", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, "/point/demo/office/zone1/setpoint");
    const form = page.getByRole("form", { name: "Set the point" });
    await form.getByLabel(/^Value/).fill("23.25");
    await form.getByLabel("Reason").fill("<b>cold</b> guest");
    await form.getByRole("button", { name: "Set…" }).click();
    await page.getByRole("button", { name: "Set it now" }).click();
    await page.getByText("Done: the device reports 23.25 °C.").waitFor();
    await enter(page, "/timeline");
    const said = "admin set demo/office/zone1/setpoint to 23.25 (<b>cold</b> guest)";
    await page.getByText(said).waitFor();
    await page.getByText("demo/office/zone1/setpoint reports 23.25, as it was set").waitFor();
    await page.getByText(/The node started, version/).waitFor();
    if (shots) await page.screenshot({ path: `${shots}/timeline-wide.png`, fullPage: true });
    await page.getByLabel("Search").fill("COLD");
    await page.getByText(/The node started/).waitFor({ state: "detached" });
    await page.getByText(said).waitFor();
    await page.getByLabel("Kind").selectOption("outage");
    await page.getByText("Nothing in this time.").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("is read on a phone", async () => {
    const { page, complaints } = await openPage(browser, phone);
    await enter(page, "/timeline");
    await page.getByText(/The node started, version/).waitFor();
    if (shots) await page.screenshot({ path: `${shots}/timeline-phone.png`, fullPage: true });
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
