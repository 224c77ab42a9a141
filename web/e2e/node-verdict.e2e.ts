// What a running node says of itself, while things go wrong and are mended: the verdict of the overview, the line at
// the head, the marks of the menu, the list, /api/v1/health and the command line say the same.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Health } from "../src/generated/api";
import { launch, openPage } from "./browser";
import { ask, type Running, startNode } from "./nodes-run";

const program = process.env.VOLTBUS_BIN ?? "";
const run = promisify(execFile);

describe.skipIf(program === "")("the verdict of a running node", () => {
  let browser: Browser;
  let node: Running;
  let far: Running;
  beforeAll(async () => {
    [browser, node, far] = await Promise.all([
      launch(),
      startNode(program, "hall"),
      startNode(program, "far"),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    await Promise.all([node?.stop(), far?.stop().catch(() => undefined)]); // far may have ended
  });

  /** What the command line prints first. */
  async function printed(): Promise<string> {
    const env = { ...process.env, VOLTBUS_TOKEN: node.token };
    const { stdout } = await run(program, ["health", "--url", node.url], { env });
    return stdout.split("\n")[0] ?? "";
  }

  /** What the page says: verdict, sentence and head, and the marks of the menu. */
  async function shown(page: Page): Promise<string[]> {
    const verdict = page.getByRole("region", { name: "Verdict" });
    const marks = await page.locator(".rail .way:has(.alert-mark) .unseen").allTextContents();
    return [
      (await verdict.locator(".verdict-word").textContent()) ?? "",
      (await verdict.locator(".verdict-text").textContent()) ?? "",
      (await page.getByRole("status", { name: "Health" }).textContent()) ?? "",
      ...marks,
    ];
  }

  /** Samples are recorded on and on. */
  const still = (text: string) => text.replace(/[\d,]+ samples? recorded/, "recorded");

  /** Waits until the page says a verdict with words, and the marks; then all others must say it, too. */
  async function says(page: Page, word: string, words: string, marks: string[]) {
    await expect
      .poll(async () => {
        const [verdict, sentence = "", head = "", ...beside] = await shown(page);
        const told = await ask<Health>(node, "GET", "health");
        const cli = await printed();
        const same =
          still(`${head}.`) === still(sentence) && still(told.summary ?? "") === still(head);
        return {
          ...{ verdict, same, has: sentence.includes(words), beside, told: told.verdict },
          cli: cli.startsWith(word) && still(cli).endsWith(still(head)),
        };
      })
      .toEqual({ verdict: word, same: true, has: true, beside: marks, told: word, cli: true });
  }

  test("is the same everywhere, in each scene and after it", { timeout: 120_000 }, async () => {
    const { page, complaints } = await openPage(browser);
    await page.goto(`${node.url}/#token=${encodeURIComponent(node.token)}`);
    const well = () => says(page, "All is well", "Both devices answer; ", []);
    await well();

    const rule = { name: "hot", points: ["b/t"], check: "high", limit: 80, priority: "critical" };
    await ask(node, "PUT", "alarms/rules", rule);
    await says(page, "Worth a look", "1 alarm rule cannot be judged", []); // nothing was read yet
    const reads = (value: number) =>
      ask(node, "POST", "samples", [{ point: "b/t", value, time: new Date().toISOString() }]);
    const alarm = "hot@b/t";
    await reads(85);
    await says(page, "Something is wrong", "1 alarm is open (1 critical)", ["1 open alarm"]);
    await page.getByRole("link", { name: "Alarms 1 open alarm" }).click();
    await page.getByRole("heading", { name: "1 open alarm" }).waitFor();
    await page.getByRole("link", { name: "Overview", exact: true }).first().click();
    await ask(node, "POST", "alarms/shelve", { alarm, seconds: 3600 });
    await well();
    await ask(node, "POST", "alarms/unshelve", { alarm });
    await reads(20);
    await says(page, "Worth a look", "1 alarm is open (1 critical)", ["1 open alarm"]);
    await ask(node, "POST", "alarms/acknowledge", { alarm });
    await well();

    const { code } = await ask<{ code: string }>(node, "POST", "invitations", {});
    await ask(far, "POST", "parent", { code, name: "" });
    await says(page, "Worth a look", "1 node waits for approval", ["1 node to look at"]);
    await ask(node, "POST", "children/far/approve");
    await says(page, "All is well", "1 of 1 descendant is connected", []);
    await far.stop();
    await says(page, "Worth a look", "0 of 1 descendant is connected", ["1 node to look at"]);
    expect(complaints).toEqual([]);
  });
});
