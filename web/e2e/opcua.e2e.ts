// The points of an OPC UA server of another project, added on the page of a fresh node.

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Beginning, program, shoot } from "./beginning";
import { launch, openPage, seriousViolations } from "./browser";

describe.skipIf(program === "")("a fresh node beside an OPC UA server", () => {
  let browser: Browser;
  let begin: Beginning;
  let endpoint = "";

  beforeAll(async () => {
    begin = await Beginning.in("opcua");
    const [certificate, key] = [join(begin.dir, "cert.pem"), join(begin.dir, "key.pem")];
    const files = ["--certificate", certificate, "--key", key];
    execFileSync(program, ["opcua", "certificate", ...files]);
    const server = await begin.peer("opcua_peer.py", ...files);
    endpoint = `opc.tcp://127.0.0.1:${server.port}/plant`;
    browser = await launch();
    await begin.node();
  });
  afterAll(async () => {
    await browser?.close();
    await begin?.end();
  });

  test("asks it, adds it with security, and shows its points with names and units", async () => {
    const { page, complaints } = await openPage(browser, {
      viewport: { width: 1440, height: 1000 },
    });
    const device = await begin.firstDevice(page);
    await device.getByRole("radio", { name: /An OPC UA server/ }).check();
    await device.getByRole("button", { name: "Try it" }).click();
    await device.getByText(/Give the URL of the server/).waitFor();
    await device.getByLabel("URL of the server").fill("10.0.0.20:4840");
    await device.getByRole("button", { name: "Ask the server" }).click();
    await device.getByText(/is no URL of an OPC UA server; write one such as/).waitFor();
    await device.getByLabel("URL of the server").fill(endpoint);
    await device.getByRole("button", { name: "Ask the server" }).click();
    await device.getByText(/is the fingerprint of its certificate/).waitFor();
    await device.getByRole("radio", { name: /^Aes256_Sha256_RsaPss, encrypted/ }).check();
    expect(await device.getByLabel("Name of the device").inputValue()).toBe("The_plant");
    expect(await seriousViolations(page)).toEqual([]);
    await shoot(page, "opcua");
    await device.getByRole("button", { name: "Try it" }).click();
    await device.getByText(/^It answers within .* with \d+ points/).waitFor();
    await shoot(page, "opcua-tried");
    await device.getByRole("button", { name: "Add the device" }).click();
    await page.getByText(/The_plant is added\./).waitFor();
    await page.getByRole("link", { name: "Open the device" }).click();
    await page.getByText(/^Answers; read/).waitFor();
    await expect
      .poll(() => page.getByRole("main").textContent(), { timeout: 30_000 })
      .toMatch(/Temperature\s*›?\s*21\.50?\s*°C/);
    expect(await seriousViolations(page)).toEqual([]);
    await shoot(page, "opcua-device");
    // The browser notes that the node refused the URL that is none.
    expect(complaints.filter((c) => !c.includes("400 (Bad Request)"))).toEqual([]);
  });
});
