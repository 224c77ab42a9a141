// A device is added at any time, against a node of the program that VOLTBUS_BIN names and a Modbus server of pymodbus.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";
import { phone } from "./harness";

const program = process.env.VOLTBUS_BIN ?? "";
const root = join(import.meta.dirname, "../..");
const python = process.env.VOLTBUS_PEERS_PYTHON ?? join(root, ".venv/bin/python");
const shots = process.env.VOLTBUS_SHOTS;

const settings = `node:
  name: plant-1
listen:
  http: 127.0.0.1:0
  bus: off
devices:
  campus/weather:
    driver: sim
    interval: 1s
    config: {model: weather}
`;

/** Starts a program, and gives what the first line of its output that fits says, and the way to end it. */
async function started(child: ChildProcess, from: "stdout" | "stderr", fits: RegExp) {
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const output = child[from];
  if (!output) throw new Error("its output cannot be read");
  for await (const line of createInterface(output)) {
    const [, said] = fits.exec(line) ?? [];
    if (!said) continue;
    output.resume();
    return { said, gone };
  }
  throw new Error(`it ended before it said ${fits}`);
}

describe.skipIf(program === "")("a device of a running node", () => {
  let browser: Browser;
  let dir = "";
  let node: ChildProcess;
  let peer: ChildProcess;
  let gone: Promise<void>[] = [];
  let url = "";
  let port = "";

  beforeAll(async () => {
    browser = await launch();
    dir = await mkdtemp(join(tmpdir(), "voltbus-adding-"));
    await writeFile(join(dir, "voltbus.yaml"), settings);
    node = spawn(program, ["run"], { cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
    peer = spawn(python, [join(root, "testing/peers/modbus_server.py")], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    const runs = await Promise.all([
      started(node, "stderr", /node runs.* page=(\S+)/),
      started(peer, "stdout", /^ready (\d+)$/),
    ]);
    [url = "", port = ""] = runs.map((r) => r.said);
    gone = runs.map((r) => r.gone);
  });
  afterAll(async () => {
    await browser.close();
    node.kill("SIGINT");
    peer.stdin?.end();
    await Promise.all(gone);
    await rm(dir, { recursive: true });
  });

  const enter = async (page: Page, path: string) => {
    const token = (await readFile(join(dir, "data/admin.token"), "utf8")).trim();
    await page.goto(`${url}${path}#token=${encodeURIComponent(token)}`);
    await page.getByRole("main").waitFor();
  };

  test("is found by the menu and added with a list whose order of bytes was seen", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, "/site");
    await page.getByRole("link", { name: "Devices", exact: true }).click();
    await page.getByRole("link", { name: "Add a device" }).click();
    const form = page.getByRole("form", { name: "New device" });
    await form.getByRole("radio", { name: /A DNP3 outstation/ }).check();
    await form.getByLabel("Outstation", { exact: true }).fill("four");
    await form.getByRole("button", { name: "Try it" }).click();
    await form.getByText("outstation is a number.").waitFor();
    if (shots) await page.screenshot({ path: `${shots}/adding-dnp3.png`, fullPage: true });
    await form.getByRole("radio", { name: /A Modbus device/ }).check();
    await form.getByLabel("Name of the device").fill("plc");
    await form.getByLabel("Address", { exact: true }).fill(`127.0.0.1:${port}`);
    await form.getByRole("radio", { name: "From a list" }).check();
    const list = (rows: string) => ({
      name: "plc.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(`name,address,type,description\r\n${rows}`),
    });
    const file = form.getByLabel("File of the list");
    await file.setInputFiles(list("energy,54,int33,Heat meter\r\n"));
    await form.getByRole("button", { name: "Try it" }).click();
    await form.getByText(/^row 2, column type: \(energy\)/).waitFor();
    await file.setInputFiles(list("energy,54,int32,Heat meter\r\n<b>unit</b>,30,uint16,\r\n"));
    await form.getByRole("button", { name: "Try it" }).click();
    const row = form.getByRole("row", { name: /energy/ });
    await row.getByText("1DC0 FFFE").waitFor();
    await form
      .getByRole("row", { name: /<b>unit<\/b>/ })
      .getByText("0001")
      .waitFor();
    if (shots) await page.screenshot({ path: `${shots}/adding-orders.png`, fullPage: true });
    expect(await seriousViolations(page)).toEqual([]);
    await row.getByRole("button", { name: "CDAB for energy: -123,456" }).click();
    await expect
      .poll(() => row.getByRole("button", { name: /CDAB/ }).getAttribute("aria-pressed"))
      .toBe("true");
    expect(await form.getByLabel("Text of the list").inputValue()).toContain(
      "energy,54,int32,Heat meter,CDAB",
    );
    await form.getByRole("button", { name: "Add the device" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe("/device/campus/plc");
    await page
      .getByRole("row", { name: /Heat meter/ })
      .getByText("-123,456")
      .waitFor();
    expect(await readFile(join(dir, "voltbus.yaml"), "utf8")).toContain("campus/plc:");
    expect(complaints.filter((c) => !/status of 400/.test(c))).toEqual([]);
  });

  test("shows its last value when it does not answer, also on a page that is opened then", async () => {
    peer.stdin?.end();
    await gone[1];
    const { page, complaints } = await openPage(browser);
    await enter(page, "/device/campus/plc");
    const row = page.getByRole("row", { name: /Heat meter/ });
    await row.getByText("offline").waitFor();
    await row.getByText("-123,456").waitFor();
    await expect.poll(() => row.locator(".age").textContent()).toMatch(/^(now|\d+ (s|min))$/);
    if (shots) await page.screenshot({ path: `${shots}/offline-device.png`, fullPage: true });
    await enter(page, "/point/campus/plc/energy");
    await page.getByText(/-123,456 .*the last value, .*; now offline/s).waitFor();
    if (shots) await page.screenshot({ path: `${shots}/offline-point.png` });
    expect(await seriousViolations(page)).toEqual([]);
    await enter(page, "/site?branch=campus%2Fplc");
    await page
      .getByRole("row", { name: /Heat meter/ })
      .getByText("-123,456")
      .waitFor();
    await enter(page, "/dashboards?device=campus%2Fplc");
    const tile = page.locator(".tile").filter({ hasText: "Heat meter" }).first();
    await tile.getByText("-123,456").first().waitFor();
    await tile
      .getByText(/offline, last known \d/)
      .first()
      .waitFor();
    await expect.poll(() => page.locator(".tile .is-old").count()).toBeGreaterThan(0);
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/offline-dashboard.png` });
    await enter(page, "/explore?point=campus%2Fplc%2Fenergy");
    const legend = page.getByRole("region", { name: "Shown points" });
    await legend.getByText("-123,456").waitFor();
    await legend.getByText(/offline, last known \d/).waitFor();
    if (shots) await page.screenshot({ path: `${shots}/offline-explore.png` });
    expect(complaints).toEqual([]);
  });

  test("has a form that fits the narrowest phone", async () => {
    const narrow = { ...phone, viewport: { width: 320, height: 640 } };
    const { page } = await openPage(browser, narrow);
    await enter(page, "/devices/add");
    await page.getByRole("radio", { name: /A DNP3 outstation/ }).check();
    expect(await sidewaysScroll(page)).toBe(0);
    if (shots) await page.screenshot({ path: `${shots}/adding-phone.png`, fullPage: true });
  });
});
