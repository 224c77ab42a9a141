// Two real nodes, one below the other: what the one above sees of it live, its log, and a configuration
// that is pushed to it, kept if it is reached with it, and taken back by itself if it is not.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations } from "./browser";
import { ask, type Running, startNode } from "./nodes-run";

const { VOLTBUS_BIN: program = "" } = process.env;
const long = { timeout: 60_000 };
const allow = "uplink:\n  allow: [read **, subscribe **, call node, administer]\n";

describe.skipIf(program === "")("a running child node", () => {
  let browser: Browser;
  let campus: Running;
  let plant: Running;
  beforeAll(async () => {
    browser = await launch();
    [campus, plant] = await Promise.all([
      startNode(program, "campus"),
      startNode(program, "plant", allow),
    ]);
    const addresses = [`127.0.0.1:${campus.bus}`];
    const wanted = { name: "plant", prefix: "plants", approved: true, addresses };
    const { code } = await ask<{ code: string }>(campus, "POST", "invitations", wanted);
    await ask(plant, "POST", "parent", { code });
  });
  afterAll(async () => {
    await browser?.close();
    await plant?.stop();
    await campus?.stop();
  });

  async function enter(path: string): Promise<Page> {
    const { page } = await openPage(browser);
    await page.goto(`${campus.url}${path}#token=${encodeURIComponent(campus.token)}`);
    await page
      .getByRole("status", { name: "State" })
      .getByText("connected", { exact: true })
      .waitFor(long);
    return page;
  }

  test("shows its values live, those of a pattern, and its log", async () => {
    const page = await enter("/node/plant?part=live&pattern=plant/room1/**");
    const table = page.getByRole("region", { name: "Values of its points" });
    const values = table.locator("td.value");
    await values.first().waitFor(long);
    expect(await table.getByText("plant/room2").count()).toBe(0);
    const before = await values.allTextContents();
    await expect.poll(() => values.allTextContents(), long).not.toEqual(before);
    await page.getByRole("button", { name: "Stop" }).click();
    await page.getByText(/points, stopped\./).waitFor();
    await page.getByRole("link", { name: "Log", exact: true }).click();
    const lines = page.getByRole("region", { name: "Lines of the log" });
    await lines.getByText("node runs").waitFor(long);
    await page.getByLabel("Search the log").fill("node runs");
    await page.getByRole("button", { name: "Search" }).click();
    await expect.poll(() => lines.getByRole("listitem").count(), long).toBe(1);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("keeps a configuration with which it is reached, and goes back from one that cuts it off", {
    timeout: 180_000,
  }, async () => {
    const page = await enter("/node/plant?part=settings");
    const editor = page.getByRole("textbox", { name: "Configuration" });
    await editor.waitFor(long);
    const push = async (text: string) => {
      await editor.fill(text);
      await page.getByRole("button", { name: "Review changes" }).click();
      await page.getByLabel("On trial for at most").selectOption("30 seconds");
      await page.getByRole("button", { name: "Push to plant" }).click();
    };
    const text = async () => (await ask<{ text: string }>(plant, "GET", "config")).text;
    const first = await text();
    const good = first.replace("interval: 1s", "interval: 2s");
    await push(good);
    await page
      .getByText("plant was reached with the new configuration, and keeps it.")
      .waitFor(long);
    expect(await text()).toBe(good);

    const cut = good.replace(/allow: .*/, "allow: []");
    await push(cut);
    const trial = page.getByRole("status", { name: "Trial" });
    await trial.getByText("No contact with plant since the push").waitFor(long);
    expect(await text()).toBe(cut);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByText("plant has the configuration from before").waitFor({ timeout: 90_000 });
    expect(await text()).toBe(good);
    // What was typed stands there, to be changed
    await page.getByText("added: allow: []").waitFor();
    await page.getByText("went back to the configuration before").waitFor(long);
  });

  test("says which capability is missing when it lets nothing be asked any more", async () => {
    const { text, version } = await ask<{ text: string; version: string }>(plant, "GET", "config");
    await ask(plant, "PUT", "config", { text: text.replace(/allow: .*/, "allow: []"), version });
    const page = await enter("/node/plant?part=log");
    await page.getByText("The capability “call node:log” is missing").waitFor(long);
    await page.getByRole("link", { name: "Live", exact: true }).click();
    await page.getByText(/The capability “read .*” is missing/).waitFor(long);
  });
});
