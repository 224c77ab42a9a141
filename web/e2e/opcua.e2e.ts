// The points of an OPC UA server of another project, added on the page of a fresh node.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations } from "./browser";

const program = process.env.VOLTBUS_BIN ?? "";
const root = join(import.meta.dirname, "../..");
const python = process.env.VOLTBUS_PEERS_PYTHON ?? join(root, ".venv/bin/python");
const shots = process.env.VOLTBUS_SHOTS;

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

describe.skipIf(program === "")("a fresh node beside an OPC UA server", () => {
  let browser: Browser;
  let dir = "";
  let node: ChildProcess | undefined;
  let peer: ChildProcess | undefined;
  let url = "";
  let token = "";
  let endpoint = "";

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), "voltbus-opcua-"));
    const [certificate, key] = [join(dir, "cert.pem"), join(dir, "key.pem")];
    const files = ["--certificate", certificate, "--key", key];
    execFileSync(program, ["opcua", "certificate", ...files]);
    const server = spawn(python, [join(root, "testing/peers/opcua_peer.py"), ...files], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    peer = server;
    endpoint = `opc.tcp://127.0.0.1:${await said(server.stdout, /^ready (\d+)$/)}/plant`;
    browser = await launch();
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

  test("asks it, adds it with security, and shows its points with names and units", async () => {
    const { page, complaints } = await openPage(browser, {
      viewport: { width: 1440, height: 1000 },
    });
    const shoot = async (name: string) => {
      if (!shots) return;
      await page.screenshot({ path: join(shots, `${name}-wide.png`), fullPage: true });
      await page.setViewportSize({ width: 390, height: 844 });
      await page.screenshot({ path: join(shots, `${name}-phone.png`), fullPage: true });
      await page.setViewportSize({ width: 1440, height: 1000 });
    };
    await page.goto(`${url}/#token=${encodeURIComponent(token)}`);
    const account = page.getByRole("form", { name: "Site and administrator" });
    await account.getByLabel("Name of the site").fill("campus");
    await account.getByRole("textbox", { name: /^Administrator/ }).fill("ann");
    await account.getByLabel("New password", { exact: false }).first().fill("a long password");
    await account.getByLabel("New password again").fill("a long password");
    await account.getByRole("button", { name: "Create the administrator" }).click();
    const device = page.getByRole("form", { name: "First device" });
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
    await shoot("opcua");
    await device.getByRole("button", { name: "Try it" }).click();
    await device.getByText(/^It answers within .* with \d+ points/).waitFor();
    await shoot("opcua-tried");
    await device.getByRole("button", { name: "Add the device" }).click();
    await page.getByText(/The_plant is added\./).waitFor();
    await page.getByRole("link", { name: "Open the device" }).click();
    await page.getByText(/^Answers; read/).waitFor();
    await expect
      .poll(() => page.getByRole("main").textContent(), { timeout: 30_000 })
      .toMatch(/Temperature\s*›?\s*21\.50?\s*°C/);
    expect(await seriousViolations(page)).toEqual([]);
    await shoot("opcua-device");
    // The browser notes that the node refused the URL that is none.
    expect(complaints.filter((c) => !c.includes("400 (Bad Request)"))).toEqual([]);
  });
});
