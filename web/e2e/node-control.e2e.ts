// Control of a running node, a demonstration of its own. The simulated
// zones of the demonstration are real devices to the node: they take a set point and report it.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations } from "./browser";
import { startDemo } from "./demo";

const { url, token } = await startDemo();
const zone = "demo/office/zone1";

describe.skipIf(url === "")("control of a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  async function enter(page: Page, path: string) {
    await page.goto(`${url}${path}#token=${encodeURIComponent(token)}`);
    await page.getByRole("main").waitFor();
  }

  test("sets a point, shows who holds it, proves it, and releases it", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, `/device/${zone}`);
    await page.getByRole("link", { name: "Set setpoint" }).click();
    const form = page.getByRole("form", { name: "Set the point" });
    await form.getByLabel(/^Value/).fill("23.25");
    await form.getByLabel("Reason").fill("<b>cold</b> guest");
    await form.getByText("It wins: the point is set to 23.25 °C at once.").waitFor();
    await form.getByRole("button", { name: "Set…" }).click();
    await page.getByRole("button", { name: "Set it now" }).click();
    await page.getByText("Done: the device reports 23.25 °C.").waitFor();
    const doing = page.getByRole("status", { name: "Command status" });
    await doing.getByText("The device reports 23.25 °C, as commanded.").waitFor();
    await page.getByRole("row", { name: /8 Manual operator 23.25 °C counts you/ }).waitFor();
    const entries = page.getByRole("region", { name: "Entries" });
    await entries.getByText("Value confirmed").first().waitFor();
    await entries.getByText("✓ accepted").first().waitFor();

    await enter(page, "/control");
    const row = page.getByRole("row", { name: new RegExp(`${zone}/setpoint`) });
    await row.getByText("<b>cold</b> guest").waitFor();
    await row.getByText("confirmed").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Release everything of mine now" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Release everything" }).click();
    await page
      .getByRole("status", { name: "What was released" })
      .getByText(/^Ended: 1 command on 1 point\. 1 point (went|is going) back\.$/)
      .waitFor();
    await row.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  test("says in its own words that a point does not exist", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, "/point/demo/office/zone1/temprature");
    await page.getByText("The node knows no such point.").waitFor();
    expect(await page.getByText("voltbus points").count()).toBe(0);
    expect(complaints.filter((c) => !c.includes("404"))).toEqual([]);
  });

  test("reserves, and tells another reservation who is in the way", async () => {
    const { page } = await openPage(browser);
    await enter(page, "/control/schedule");
    const form = page.getByRole("form", { name: "Reserve" });
    const reserve = async (name: string, path: string) => {
      await form.getByLabel("Name").fill(name);
      await form.getByLabel(/^Devices/).fill(path);
      await form.getByRole("button", { name: "Reserve" }).click();
    };
    await reserve("screen test", "demo/office/zone2");
    await form.getByText("screen test is reserved.").waitFor();
    await page.getByRole("link", { name: /^screen test, you, demo\/office\/zone2/ }).waitFor();
    await reserve("second test", "demo/office");
    const alert = form.getByRole("alert");
    await alert.getByText("Nothing is reserved: ").waitFor();
    await alert.getByText(/^you with the reservation screen test of demo\/office\/zone2/).waitFor();
    await page.getByRole("link", { name: /^screen test, .* in the way$/ }).click();
    await page.getByRole("button", { name: "Cancel the reservation" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Cancel the reservation" }).click();
    await page.getByRole("link", { name: /^screen test/ }).waitFor({ state: "detached" });
  });

  test("follows live what somebody else does, and overrides points", async () => {
    const { page } = await openPage(browser);
    await enter(page, `/point/${zone}/setback`);
    const doing = page.getByRole("status", { name: "Command status" });
    await doing.getByText("Nobody commands it.").waitFor();
    const send = (path: string, body: unknown) =>
      fetch(`${url}/api/v1/control/${path}`, {
        method: "POST",
        headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
        body: JSON.stringify(body),
      });
    await send("commands", { commands: [{ point: `${zone}/setback`, value: 3, level: 9 }] });
    await doing.getByText("The device reports 3 K, as commanded.").waitFor();
    await send("overrides", { pattern: `${zone}/**`, length: 600, failsafe: true });
    await doing.getByText("Overridden: no command reaches it.").waitFor();
    await enter(page, "/control");
    await page.getByRole("button", { name: `Clear the override of ${zone}/**` }).click();
    await page.getByRole("button", { name: "Clear it" }).click();
    await page.getByText("No override.").waitFor();
  });

  test("offers what a point was commanded beside it", async () => {
    const { page } = await openPage(browser);
    await enter(page, `/explore?point=${zone}/setpoint&range=1h`);
    await page.getByRole("button", { name: `Show the commands of ${zone}/setpoint` }).click();
    await expect
      .poll(() => new URL(page.url()).searchParams.getAll("point"))
      .toEqual([`${zone}/setpoint`, `control/${zone}/setpoint`]);
    await page.getByRole("region", { name: "Shown points" }).getByText("commanded").waitFor();
  });
});
