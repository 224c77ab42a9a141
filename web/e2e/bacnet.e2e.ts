// BACnet devices that a fresh node finds in its subnet. Broadcasts need a network of the test's own: it runs itself again in one, as root.

import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations } from "./browser";

const program = process.env.VOLTBUS_BIN ?? "";
const inside = process.env.VOLTBUS_TEST_NAMESPACE === "bacnet.e2e";
const possible = program !== "" && process.getuid?.() === 0;

const root = join(import.meta.dirname, "../..");
const python = process.env.VOLTBUS_PEERS_PYTHON ?? join(root, ".venv/bin/python");

const network = ["10.66.0.2/24", "10.66.0.11/24", "10.66.0.12/24"];

const settings = `node: {name: plant-1}
listen: {http: 127.0.0.1:0, bus: off}
`;

/** Returns what the first line of a stream that fits the expression has in its brackets. */
async function said(stream: Readable, expression: RegExp): Promise<string> {
  for await (const line of createInterface(stream)) {
    const found = expression.exec(line)?.[1];
    if (found !== undefined) {
      stream.resume();
      return found;
    }
  }
  throw new Error(`${expression} was never said`);
}

describe.skipIf(!possible || inside)("devices of a subnet", () => {
  test("are found, in a network of the test's own", { timeout: 240_000 }, () => {
    const again = spawnSync(
      "unshare",
      ["-n", "npx", "vitest", "run", "--config", "e2e/vitest.config.ts", "e2e/bacnet.e2e.ts"],
      {
        cwd: join(root, "web"),
        env: { ...process.env, VOLTBUS_TEST_NAMESPACE: "bacnet.e2e" },
        encoding: "utf8",
      },
    );
    expect(again.status, again.stdout + again.stderr).toBe(0);
    expect(again.stdout).toMatch(/1 passed/);
  });
});

describe.skipIf(!possible || !inside)("a fresh node in a subnet with devices", () => {
  let browser: Browser;
  let dir = "";
  let node: ChildProcess | undefined;
  let peer: ChildProcess | undefined;
  let url = "";
  let token = "";

  beforeAll(async () => {
    execFileSync("ip", ["link", "set", "lo", "up"]);
    for (const address of network)
      execFileSync("ip", ["addr", "add", address, "brd", "+", "dev", "lo"]);
    const devices = spawn(
      python,
      [
        join(root, "testing/peers/bacnet_peer.py"),
        "plant",
        "10.66.0.11/24",
        "11",
        "480",
        "5",
        "10.66.0.12/24",
      ],
      { stdio: ["pipe", "pipe", "inherit"] },
    );
    peer = devices;
    await said(devices.stdout, /^ready (\d+)$/);
    browser = await launch();
    dir = await mkdtemp(join(tmpdir(), "voltbus-bacnet-"));
    await writeFile(join(dir, "voltbus.yaml"), settings);
    const run = spawn(program, ["run"], { cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
    node = run;
    url = await said(run.stderr, /node runs.* page=(\S+)/);
    token = (await readFile(join(dir, "data/admin.token"), "utf8")).trim();
  });
  afterAll(async () => {
    await browser?.close();
    for (const [process, end] of [
      [node, () => node?.kill("SIGINT")],
      [peer, () => peer?.stdin?.end()],
    ] as const) {
      if (!process) continue;
      const gone = new Promise((resolve) => process.once("exit", resolve));
      end();
      await gone;
    }
    await rm(dir, { recursive: true });
  });

  test("finds them, adds one, and shows its points with names and units", async () => {
    const shots = process.env.VOLTBUS_SHOTS;
    const { page, complaints } = await openPage(browser, {
      viewport: { width: 1440, height: 1000 },
    });
    await page.goto(`${url}/#token=${encodeURIComponent(token)}`);
    const account = page.getByRole("form", { name: "Site and administrator" });
    await account.getByLabel("Name of the site").fill("campus");
    await account.getByRole("textbox", { name: /^Administrator/ }).fill("ann");
    await account.getByLabel("New password", { exact: false }).first().fill("a long password");
    await account.getByLabel("New password again").fill("a long password");
    await account.getByRole("button", { name: "Create the administrator" }).click();
    const device = page.getByRole("form", { name: "First device" });
    await device.getByRole("radio", { name: /A BACnet device/ }).check();
    await device.getByLabel("Own address").fill("10.66.0.2/24");
    await device.getByRole("button", { name: "Find devices" }).click();
    await device.getByText("2 devices found.").waitFor();
    await device.getByRole("radio", { name: /device 11 at 10\.66\.0\.11/ }).check();
    expect(await device.getByLabel("Instance").inputValue()).toBe("11");
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: join(shots, "bacnet-wide.png"), fullPage: true });
    if (shots) {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.screenshot({ path: join(shots, "bacnet-phone.png"), fullPage: true });
      await page.setViewportSize({ width: 1440, height: 1000 });
    }
    await device.getByRole("button", { name: "Try it" }).click();
    await device.getByText(/^It answers within .* with 11 points\.$/).waitFor();
    await device.getByRole("button", { name: "Add the device" }).click();
    await page.getByText(/device_11 is added\./).waitFor();
    await page.getByRole("link", { name: "Open the device" }).click();
    await page.getByText(/^Answers; read/).waitFor();
    for (const text of ["input_1", "Fan_Enable", "setpoint"])
      await page.getByText(new RegExp(text)).first().waitFor();
    await expect
      .poll(() => page.getByRole("main").textContent(), { timeout: 30_000 })
      .toMatch(/input_1\s*›?\s*1\.50\s*°C/);
    expect(await seriousViolations(page)).toEqual([]);
    if (shots)
      await page.screenshot({ path: join(shots, "bacnet-device-wide.png"), fullPage: true });
    if (shots) {
      await page.setViewportSize({ width: 390, height: 844 });
      await page.screenshot({ path: join(shots, "bacnet-device-phone.png"), fullPage: true });
    }
    expect(complaints).toEqual([]);
  });
});
