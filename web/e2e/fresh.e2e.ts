// Against a fresh node of the program that VOLTBUS_BIN names: the first steps, and what follows.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { curvePixels, launch, openPage, seriousViolations } from "./browser";

const program = process.env.VOLTBUS_BIN ?? "";

const root = join(import.meta.dirname, "../..");
const python = process.env.VOLTBUS_PEERS_PYTHON ?? join(root, ".venv/bin/python");

const settings = `node:
  name: plant-1
listen:
  http: 127.0.0.1:0
  bus: off
# Devices are added by the screens
`;

describe.skipIf(program === "")("a fresh node", () => {
  let browser: Browser;
  let dir = "";
  let node: ChildProcess;
  let ended: Promise<void>;
  let url = "";
  let token = "";

  beforeAll(async () => {
    browser = await launch();
    dir = await mkdtemp(join(tmpdir(), "voltbus-fresh-"));
    await writeFile(join(dir, "voltbus.yaml"), settings);
    node = spawn(program, ["run"], { cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
    ended = new Promise((resolve) => node.once("exit", () => resolve()));
    if (!node.stderr) throw new Error("the node's log cannot be read");
    const lines = createInterface(node.stderr);
    for await (const line of lines) {
      const [, address] = /node runs.* page=(\S+)/.exec(line) ?? [];
      if (!address) continue;
      url = address;
      break;
    }
    node.stderr.resume();
    token = (await readFile(join(dir, "data/admin.token"), "utf8")).trim();
  });
  afterAll(async () => {
    await browser.close();
    node.kill("SIGINT");
    await ended;
    await rm(dir, { recursive: true });
  });

  test("is led to an administrator, a device and its curve, and keeps its file's comments", async () => {
    const { page, complaints } = await openPage(browser);
    await page.goto(`${url}/#token=${encodeURIComponent(token)}`);
    await page.getByRole("heading", { name: "First steps" }).waitFor();
    const account = page.getByRole("form", { name: "Site and administrator" });
    await account.getByLabel("Name of the site").fill("campus");
    await account.getByRole("textbox", { name: /^Administrator/ }).fill("ann");
    await account.getByLabel("New password", { exact: false }).first().fill("a long password");
    await account.getByLabel("New password again").fill("a long password");
    await account.getByRole("button", { name: "Create the administrator" }).click();

    const device = page.getByRole("form", { name: "First device" });
    await device.getByRole("button", { name: "Try it" }).click();
    await page.getByText(/^It answers within .* with \d+ points\.$/).waitFor();
    await device.getByRole("radio", { name: /A Modbus device/ }).check();
    await device.getByLabel("Address", { exact: true }).fill("127.0.0.1:1");
    await device.getByLabel("Name of register 1").fill("supply");
    await device.getByLabel("Type of register 1").selectOption("float32");
    await device.getByLabel("Byte order of register 1").selectOption("CDAB");
    await device.getByLabel("Scale of register 1").fill("0.1");
    await device.getByLabel("Offset of register 1").fill("-5");
    await device.getByLabel("Register 1 is writable").check();
    await device.getByLabel("Time-out of a request, in seconds").fill("0.5");
    await device.getByRole("button", { name: "Try it" }).click();
    await page.getByText("Check its power, cable and address.").waitFor();
    await device.getByRole("radio", { name: /A simulated device/ }).check();
    await device.getByRole("button", { name: "Add the device" }).click();
    await page.getByText("campus/ahu1 is added.").waitFor();
    await expect.poll(() => curvePixels(page, 0), { timeout: 30_000 }).toBeGreaterThan(20);
    expect(await seriousViolations(page)).toEqual([]);

    const text = await readFile(join(dir, "voltbus.yaml"), "utf8");
    expect(text).toContain("# Devices are added by the screens");
    expect(text).toContain("campus/ahu1");
    await page.getByRole("link", { name: "Open the device" }).click();
    await page.getByText(/^Answers; read/).waitFor();
    expect(complaints).toEqual([]);
  });

  test("takes a list for a Modbus device, tells its rows, and adds it once it was tried", async () => {
    const peer = spawn(python, [join(root, "testing/peers/modbus_server.py")], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    const gone = new Promise((resolve) => peer.once("exit", resolve));
    try {
      let port = "";
      for await (const line of createInterface(peer.stdout)) {
        port = /^ready (\d+)$/.exec(line)?.[1] ?? "";
        if (port) break;
      }
      const { page, complaints } = await openPage(browser);
      await page.goto(`${url}/#token=${encodeURIComponent(token)}`);
      await page.getByRole("navigation").first().waitFor();
      await page.goto(`${url}/welcome`);
      const device = page.getByRole("form", { name: "First device" });
      await device.getByRole("radio", { name: /A Modbus device/ }).check();
      await device.getByLabel("Name of the device").fill("plc");
      await device.getByLabel("Address", { exact: true }).fill(`127.0.0.1:${port}`);
      await device.getByRole("radio", { name: "From a list" }).check();
      const text = device.getByRole("textbox", { name: "Text of the list" });
      await text.fill("name,address,type\nsupply,0,float32\nunit,30,uint15\n");
      await device.getByRole("button", { name: "Try it" }).click();
      await device.getByText(/^row 3, column type: \(unit\)/).waitFor();
      await device.getByLabel("File of the list").setInputFiles({
        name: "plc.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(
          "Volttron Point Name,Modbus Register,Point Address,Shelf\r\nsupply,float,0,a\r\n,uint16,5,b\r\nunit,uint16,30,c\r\n",
        ),
      });
      await expect.poll(() => text.inputValue()).toContain("supply,float,0,a");
      await device.getByRole("button", { name: "Try it" }).click();
      await device.getByText(/^It answers within .* with 2 points\.$/).waitFor();
      await device.getByText("1 row without a Volttron Point Name left out: 3").waitFor();
      await device.getByText('column "Shelf" means nothing').waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      await device.getByRole("button", { name: "Add the device" }).click();
      await page.getByText(/plc is added\./).waitFor();
      expect(await readFile(join(dir, "voltbus.yaml"), "utf8")).toContain("registry: |");
      const check = spawn(program, ["check"], { cwd: dir, stdio: "ignore" });
      expect(await new Promise((resolve) => check.once("exit", resolve))).toBe(0);
      expect(complaints.filter((c) => !/status of 400/.test(c))).toEqual([]);
    } finally {
      peer.stdin.end();
      await gone;
    }
  });

  test("lets the administrator log in, change the configuration, and add people", async () => {
    const { page, complaints } = await openPage(browser);
    await page.goto(`${url}/settings`);
    await page.getByLabel("Name", { exact: true }).fill("ann");
    await page.getByLabel("Password").fill("a long password");
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    const editor = page.getByRole("textbox", { name: "Configuration" });
    const text = await editor.inputValue();
    await editor.fill(text.replace("interval: 1s", "interval: nonsense"));
    await page
      .getByRole("button", { name: /^Line \d+$/ })
      .first()
      .waitFor();
    await editor.fill(text.replace("interval: 1s", "interval: 2s"));
    await page.getByRole("button", { name: "Review changes" }).click();
    await page.getByRole("button", { name: "Apply" }).click();
    await page.getByText("Applied.").waitFor();
    expect(await readFile(join(dir, "voltbus.yaml"), "utf8")).toContain("interval: 2s");

    await page.getByRole("link", { name: "People", exact: true }).click();
    await page.getByRole("button", { name: "Add a person" }).click();
    const form = page.getByRole("form", { name: "Add a person" });
    await form.getByLabel("Name").fill("bob");
    await form.getByLabel("New password", { exact: false }).first().fill("another password");
    await form.getByLabel("New password again").fill("another password");
    await form.getByRole("button", { name: "Add" }).click();
    await page.getByRole("button", { name: "Change bob" }).waitFor();

    await page.goto(`${url}/site/completeness?branch=&span=6h`);
    await page.getByText(/complete: |is not known here/).waitFor();
    expect(complaints).toEqual([]);
  });
});
