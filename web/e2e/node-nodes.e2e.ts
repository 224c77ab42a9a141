// Two real nodes: one joins the other with a code, has its cable pulled, and one screen proves that
// nothing was lost.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations } from "./browser";
import { ask, Cable, type Running, startNode } from "./nodes-run";

const { VOLTBUS_BIN: program = "" } = process.env;
const long = { timeout: 60_000 };

describe.skipIf(program === "")("two running nodes", () => {
  let browser: Browser;
  let campus: Running;
  let plant: Running;
  let cable: Cable;
  beforeAll(async () => {
    browser = await launch();
    [campus, plant] = await Promise.all([
      startNode(program, "campus"),
      startNode(program, "plant"),
    ]);
    cable = new Cable(campus.bus);
    await cable.start();
  });
  afterAll(async () => {
    await browser?.close();
    await plant?.stop();
    await cable?.stop();
    await campus?.stop();
  });

  async function enter(node: Running, path: string): Promise<Page> {
    const { page } = await openPage(browser);
    await page.goto(`${node.url}${path}#token=${encodeURIComponent(node.token)}`);
    await page.getByRole("main").waitFor();
    return page;
  }

  test("join with a code, lose the cable, and prove on one screen that nothing was lost", {
    timeout: 240_000,
  }, async () => {
    const above = await enter(campus, "/nodes/join");
    await above.getByRole("button", { name: "Invite a node" }).click();
    const invite = above.getByRole("form", { name: "Invite a node" });
    await invite.getByLabel(/^It finds this node at/).fill(`127.0.0.1:${cable.port}`);
    await invite.getByLabel(/^Its points lie below/).fill("plants");
    await above.getByRole("button", { name: "Make the code" }).click();
    const shown = above.getByRole("region", { name: "Code of the invitation" });
    await shown.getByRole("img", { name: "The code for a camera" }).waitFor();
    const code = await shown.getByText(/^vb1/).textContent();

    const below = await enter(plant, "/nodes/parent");
    const form = below.getByRole("form", { name: "Join a node" });
    await form.getByLabel("Code", { exact: true }).fill(code ?? "");
    await form.getByRole("button", { name: "Join" }).click();
    const word = below.getByRole("status", { name: "Parent" });
    await word.getByText("campus has not let this node in yet.").waitFor(long);
    const print = await below.locator(".fingerprint code").first().textContent();

    await shown.getByText("The code was used.").waitFor(long);
    await above.getByRole("button", { name: "Approve plant…" }).click(long);
    const dialog = above.getByRole("dialog");
    expect(await dialog.locator(".fingerprint code").textContent()).toBe(print);
    await dialog.getByRole("button", { name: "They are the same: let it in" }).click();
    await word.getByText("Connected to campus").waitFor(long);

    await above.getByRole("link", { name: "All nodes" }).click();
    await above.getByRole("status", { name: "All nodes" }).getByText("Both nodes").waitFor(long);
    await above.getByRole("link", { name: "Ledger", exact: true }).click();
    const account = above.getByRole("status", { name: "Account" });
    await account.getByText(/Nothing was lost of .* samples of 2 nodes/).waitFor(long);
    const way = above.getByRole("list", { name: /^The way of plant~\w+$/ });
    await way.getByText("plant").waitFor(long);

    const counts = async () =>
      (await way.locator(".way-count strong").allTextContents()).map((t) =>
        Number(t.replaceAll(",", "")),
      );
    cable.pull();
    await above.getByText("1 node does not answer now").waitFor(long);
    await way.getByText(/as it said/).waitFor(long);
    const [, atPull = 0] = await counts();
    expect(atPull).toBeGreaterThan(0);
    // What the plant records meanwhile waits there
    await below.getByText("No connection to campus").waitFor(long);
    const waiting = below.getByText("Blocks that wait").locator("xpath=following-sibling::dd");
    await expect.poll(async () => Number(await waiting.textContent()), long).toBeGreaterThan(3);

    cable.putBack();
    await above.getByText("1 node does not answer now").waitFor({ ...long, state: "detached" });
    await expect.poll(async () => (await counts())[1] ?? 0, long).toBeGreaterThan(atPull);
    await word.getByText("Connected to campus").waitFor(long);
    await account.getByText(/Nothing was lost of .* samples of 2 nodes/).waitFor(long);
    expect(await above.getByText("No number is missing in").count()).toBe(1);
    const told = above.getByRole("list", { name: "Outages" });
    await told
      .getByText(
        /plant was away .* waited there; all arrived, once, by [\d:]+\. Nothing is missing\./,
      )
      .waitFor(long);
    await above.getByRole("img", { name: /arrived late/ }).waitFor(long);
    expect(await seriousViolations(above)).toEqual([]);

    // Without devices nothing is under way: both machines must have counted the same, to the sample
    await removeDevices(plant);
    await above
      .getByRole("status", { name: "Catching up" })
      .waitFor({ ...long, state: "detached" });
    const both = async () => new Set(await counts()).size;
    await expect.poll(both, long).toBe(1);
    await way.locator("xpath=..").getByText("every count agrees: nothing lost").waitFor(long);
    await shoot(above, "two-nodes");
    await above.getByRole("link", { name: "Open plant" }).click();
    await above.getByText("every count agrees: nothing lost").first().waitFor(long);
    await told.getByText("Nothing is missing.").waitFor(long);
    expect(await seriousViolations(above)).toEqual([]);
    await shoot(above, "two-nodes-page");
  });
});

/** Takes pictures of the page if somebody wants them: wide and narrow, light and dark. */
async function shoot(page: Page, name: string): Promise<void> {
  const { SCREENSHOTS: folder } = process.env;
  if (!folder) return;
  for (const [size, width] of [
    ["wide", 1280],
    ["narrow", 390],
  ] as const) {
    await page.setViewportSize({ width, height: 900 });
    for (const scheme of ["light", "dark"] as const) {
      await page.emulateMedia({ colorScheme: scheme });
      await page.screenshot({ path: `${folder}/${name}-${size}-${scheme}.png`, fullPage: true });
    }
  }
  await page.setViewportSize({ width: 1440, height: 900 });
  await page.emulateMedia({ colorScheme: "light" });
}

/** Takes all devices out of a node's configuration. */
async function removeDevices(node: Running): Promise<void> {
  const { text, version } = await ask<{ text: string; version: string }>(node, "GET", "config");
  await ask(node, "PUT", "config", { text: text.replace(/devices:[\s\S]*$/, ""), version });
}
