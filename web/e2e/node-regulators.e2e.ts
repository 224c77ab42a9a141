// The screen Regulation of a running node with two agents that regulate its rooms: who leads, the units, and a leader that is stopped.

import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";
import { phone } from "./harness";
import { type Running, startNode } from "./nodes-run";

const program = process.env.VOLTBUS_BIN ?? "";
const shots = process.env.VOLTBUS_SHOTS;
const run = promisify(execFile);
const whole = { timeout: 120_000 };

// Rooms of the simulator have no unit to switch: their night setback stands for it.
const settings = (room: number) =>
  JSON.stringify({
    units: {
      [`plant/room${room}`]: {
        low: 0,
        high: 40,
        rated: 5,
        hold: 2.5,
        lockout: 1,
        command: "setback",
      },
    },
    ...{ period: 1, beat: 1, silence: 8, lease: 60, capacity: 5, sway: 20 },
  });

describe.skipIf(program === "")("the screen Regulation with agents of the node", () => {
  let browser: Browser;
  let node: Running;
  let folder = "";
  beforeAll(async () => {
    browser = await launch();
    node = await startNode(program, "plant");
    folder = await mkdtemp(join(tmpdir(), "voltbus-regulators-"));
    for (const [i, name] of ["ra", "rb"].entries()) {
      const file = join(folder, `${name}.json`);
      await writeFile(file, settings(i + 1));
      await ask("config", "store", `agent/${name}`, "config", file);
      await ask("agent", "install", "../agents/regulation", "--name", name, "--grant", "--start");
    }
  }, 400_000);
  afterAll(async () => {
    await browser?.close();
    await node?.stop();
    await rm(folder, { recursive: true });
  });

  /** Asks the node by the command line. */
  const ask = (...args: string[]) =>
    run(program, [...args, "--url", node.url], {
      env: { ...process.env, VOLTBUS_TOKEN: node.token },
    });

  test("shows who leads and what the units do, stops the leader, and starts it again", {
    timeout: 300_000,
  }, async () => {
    const { page, complaints } = await openPage(browser);
    await page.goto(`${node.url}/regulation#token=${encodeURIComponent(node.token)}`);
    const units = page.getByRole("region", { name: "Real units: campus" });
    await units.getByText(/^ra leads in term \d+\.$/).waitFor(whole);
    const stack = units.getByRole("region", { name: "Units by temperature" });
    await expect.poll(() => stack.getByRole("listitem").count(), whole).toBe(2);
    await units.getByRole("img", { name: "Signal and response of the real units" }).waitFor(whole);
    await units.getByRole("cell", { name: /^Follows ra$/ }).waitFor(whole);
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/regulators-wide.png`, fullPage: true });

    await units.getByRole("button", { name: "Stop the leader" }).click(whole);
    await units.getByText(/^rb leads in term \d+\.$/).waitFor(whole);
    await units.getByRole("cell", { name: "Silent" }).waitFor(whole);
    await units.getByRole("button", { name: "Start ra" }).click(whole);
    await units.getByText(/^ra leads in term \d+\.$/).waitFor(whole);
    expect(complaints).toEqual([]);
  });

  test("is read on a phone", whole, async () => {
    const { page, complaints } = await openPage(browser, phone);
    await page.goto(`${node.url}/regulation#token=${encodeURIComponent(node.token)}`);
    await page.getByRole("region", { name: "Real units: campus" }).waitFor(whole);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/regulators-phone.png`, fullPage: true });
    expect(complaints).toEqual([]);
  });
});
