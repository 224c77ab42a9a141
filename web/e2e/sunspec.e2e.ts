// The models of a SunSpec inverter of another project, read on the page of a fresh node, and added as a device.

import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Beginning, program, shoot } from "./beginning";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";

describe.skipIf(program === "")("a fresh node beside a SunSpec inverter", () => {
  let browser: Browser;
  let begin: Beginning;
  let inverter = "";
  let plain = "";

  beforeAll(async () => {
    begin = await Beginning.in("sunspec");
    inverter = `127.0.0.1:${(await begin.peer("sunspec_peer.py")).port}`;
    plain = `127.0.0.1:${(await begin.peer("modbus_server.py")).port}`;
    browser = await launch();
    await begin.node();
  });
  afterAll(async () => {
    await browser?.close();
    await begin?.end();
  });

  test("reads its models, previews the registers, and adds it with them", async () => {
    const { page, complaints } = await openPage(browser, {
      viewport: { width: 1440, height: 1000 },
    });
    const device = await begin.firstDevice(page);
    await device.getByRole("radio", { name: /A Modbus device/ }).check();
    const read = device.getByRole("button", { name: "Read SunSpec models" });
    const models = device.getByRole("status", { name: "SunSpec models" });
    await read.click();
    await models.getByText(/Give the address of the device/).waitFor();
    await device.getByLabel("Address", { exact: true }).fill(plain);
    await read.click();
    await models.getByText(/whether SunSpec has to be switched on in the device/).waitFor();
    await device.getByLabel("Address", { exact: true }).fill(inverter);
    await expect.poll(() => models.textContent()).toBe("");
    await read.click();
    await models
      .getByText(/^7 SunSpec models found, with \d+ registers: Sunny Makers SM-10/)
      .waitFor();
    await models.getByText(/^1 of its 7 models has no published definition/).waitFor();
    const three = models.getByRole("listitem").filter({ hasText: "Inverter (Three Phase)" });
    expect(await three.textContent()).toMatch(
      /^103Inverter \(Three Phase\) holding 40070, \d+ points$/,
    );
    expect(await device.getByLabel("Name of the device").inputValue()).toBe("SM-10");
    const preview = device.getByRole("region", { name: "Registers of the device" });
    const power = preview.getByRole("row", { name: /^inverter_three_phase\/W / });
    expect(await power.getByRole("cell").allTextContents()).toEqual([
      "holding 40084",
      "int16",
      "W",
      "no",
      "Watts",
    ]);
    expect(await seriousViolations(page)).toEqual([]);
    await shoot(page, "sunspec");
    await page.setViewportSize({ width: 320, height: 640 });
    expect(await sidewaysScroll(page)).toBe(0);
    await page.setViewportSize({ width: 1440, height: 1000 });
    await device.getByRole("button", { name: "Try it" }).click();
    await device.getByText(/^It answers within .* with \d+ points/).waitFor();
    await shoot(page, "sunspec-tried");
    await device.getByRole("button", { name: "Add the device" }).click();
    await page.getByText(/SM-10 is added\./).waitFor();
    await page.getByRole("link", { name: "Open the device" }).click();
    await page.getByText(/^Answers; read/).waitFor();
    await page
      .getByRole("row", { name: /Manufacturer/ })
      .getByText("Sunny Makers")
      .waitFor();
    expect(await readFile(join(begin.dir, "voltbus.yaml"), "utf8")).toContain("campus/SM-10:");
    // The browser notes that the node answered that one unit has no models.
    expect(complaints.filter((c) => !/status of 404/.test(c))).toEqual([]);
  }, 120_000);

  test("says that a unit is added already", async () => {
    const { page } = await openPage(browser);
    await page.goto(`${begin.url}/devices/add#token=${encodeURIComponent(begin.token)}`);
    const form = page.getByRole("form", { name: "New device" });
    await form.getByRole("radio", { name: /A Modbus device/ }).check();
    await form.getByLabel("Address", { exact: true }).fill(inverter);
    await form.getByRole("button", { name: "Read SunSpec models" }).click();
    await form.getByText("This unit is added already, as campus/SM-10.").waitFor();
  });
});
