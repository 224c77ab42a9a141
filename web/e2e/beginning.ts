// A fresh node of the program that VOLTBUS_BIN names beside devices of other projects, and the first steps on its page.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import type { Locator, Page } from "playwright-core";

export const program = process.env.VOLTBUS_BIN ?? "";
export const root = join(import.meta.dirname, "../..");

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

/** A fresh node and its peers, which end together. */
export class Beginning {
  url = "";
  token = "";

  private readonly running: [ChildProcess, (child: ChildProcess) => void][] = [];

  /** A folder that goes with them. */
  private constructor(readonly dir: string) {}

  static async in(name: string): Promise<Beginning> {
    return new Beginning(await mkdtemp(join(tmpdir(), `voltbus-${name}-`)));
  }

  /** Starts a script of testing/peers; returns it and the port that it serves. */
  async peer(
    script: string,
    ...args: string[]
  ): Promise<{ port: string; say(line: string): void }> {
    const child = spawn(python, [join(root, "testing/peers", script), ...args], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.running.push([child, () => child.stdin.end()]);
    const port = await said(child.stdout, /^ready (\d+)$/);
    return { port, say: (line) => child.stdin.write(`${line}\n`) };
  }

  /** Starts the node, with devices in its configuration. */
  async node(devices = ""): Promise<void> {
    await writeFile(join(this.dir, "voltbus.yaml"), settings + devices);
    const child = spawn(program, ["run"], { cwd: this.dir, stdio: ["ignore", "ignore", "pipe"] });
    this.running.push([child, () => child.kill("SIGINT")]);
    this.url = await said(child.stderr, /node runs.* page=(\S+)/);
    this.token = (await readFile(join(this.dir, "data/admin.token"), "utf8")).trim();
  }

  /** Ends the node, then its peers. */
  async end(): Promise<void> {
    for (const [child, end] of this.running.reverse()) {
      if (child.exitCode !== null) continue;
      const gone = new Promise((resolve) => child.once("exit", resolve));
      end(child);
      await gone;
    }
    await rm(this.dir, { recursive: true });
  }

  /** Opens the page and names site and administrator; returns the form of the first device. */
  async firstDevice(page: Page): Promise<Locator> {
    await page.goto(`${this.url}/#token=${encodeURIComponent(this.token)}`);
    const account = page.getByRole("form", { name: "Site and administrator" });
    await account.getByLabel("Name of the site").fill("campus");
    await account.getByRole("textbox", { name: /^Administrator/ }).fill("ann");
    await account.getByLabel("New password", { exact: false }).first().fill("a long password");
    await account.getByLabel("New password again").fill("a long password");
    await account.getByRole("button", { name: "Create the administrator" }).click();
    return page.getByRole("form", { name: "First device" });
  }
}

/** Shoots the page wide and on a phone, into the folder that VOLTBUS_SHOTS names. */
export async function shoot(page: Page, name: string): Promise<void> {
  if (!shots) return;
  const before = page.viewportSize() ?? { width: 1440, height: 1000 };
  const sizes = { wide: { width: 1400, height: 1000 }, phone: { width: 390, height: 844 } };
  for (const [size, viewport] of Object.entries(sizes)) {
    await page.setViewportSize(viewport);
    await page.screenshot({ path: join(shots, `${name}-${size}.png`), fullPage: true });
  }
  await page.setViewportSize(before);
}
