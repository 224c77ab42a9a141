// Agents, documents, the audit log, alerts and tokens of a running node, a demonstration of
// its own. The agent is a wheel that is made here.

import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations } from "./browser";
import { startDemo } from "./demo";

const { url, token } = await startDemo();
const whole = { timeout: 120_000 };

const source = `
from voltbus import Agent, Wants, rpc


class Boiler(Agent):
    """Watches a boiler."""

    wants = Wants(publish=["analysis/**"], record=["analysis/**"])

    async def start(self) -> None:
        self.log.info("<b>boiler</b> watches", extra={"boilers": 3})
        await self.alert("supply/high", "supply is <i>too hot</i>", severity="critical")

    @rpc
    async def double(self, value: float) -> float:
        """Double a value."""
        return 2 * value
`;

const maker = `
import sys, zipfile
folder, source = sys.argv[1:]
info = "screen_boiler-1.0.dist-info/"
files = {
    "screen_boiler/__init__.py": "",
    "screen_boiler/agent.py": source,
    info + "METADATA": "Metadata-Version: 2.1\\nName: screen-boiler\\nVersion: 1.0\\n",
    info + "WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    info + "entry_points.txt": "[voltbus.agent]\\nscreen_boiler = screen_boiler.agent:Boiler\\n",
}
files[info + "RECORD"] = "".join(f"{name},,\\n" for name in files) + info + "RECORD,,\\n"
with zipfile.ZipFile(folder + "/screen_boiler-1.0-py3-none-any.whl", "w") as wheel:
    for name, text in files.items():
        wheel.writestr(name, text)
`;

describe.skipIf(url === "")("a running node with an agent", () => {
  let browser: Browser;
  const folder = mkdtempSync(join(tmpdir(), "voltbus-wheel-"));
  beforeAll(async () => {
    execFileSync("python3", ["-c", maker, folder, source]);
    browser = await launch();
  });
  afterAll(async () => {
    await browser.close();
    rmSync(folder, { recursive: true });
  });

  async function enter(page: Page, path: string) {
    await page.goto(`${url}${path}#token=${encodeURIComponent(token)}`);
    await page.getByRole("main").waitFor();
  }

  const button = (page: Page, name: string) => page.getByRole("button", { name, exact: true });

  test("installs it, shows its log, calls it, hears its alert, and removes it", {
    timeout: 300_000,
  }, async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, "/agents");
    await button(page, "Install an agent").click();
    const form = page.getByRole("form", { name: "Package" });
    await form
      .getByLabel(/^Package/)
      .setInputFiles(join(folder, "screen_boiler-1.0-py3-none-any.whl"));
    await form.getByRole("button", { name: "Install" }).click();
    const wants = page.getByRole("list", { name: "What it wants" });
    await wants.getByText("may record samples of analysis/**").waitFor(whole);
    await button(page, "Allow it, and start").click();
    await page.getByRole("link", { name: "Go to screen-boiler" }).click(whole);
    const state = page.getByRole("status", { name: "State" });
    await expect.poll(() => state.textContent(), whole).toContain("running");
    const lines = page.getByRole("region", { name: "Lines of the log" });
    await lines.getByText("<b>boiler</b> watches").waitFor(whole);
    expect(await seriousViolations(page)).toEqual([]);

    await page.getByRole("link", { name: "Rights" }).click();
    await page.getByText("may send live values and messages about analysis/**").waitFor();
    const grant = page.getByRole("form", { name: "Grant more" });
    await grant.getByLabel("Path").fill("demo/b*");
    await grant.getByRole("button", { name: "Grant" }).click();
    await expect.poll(() => grant.getByRole("alert").textContent()).not.toBe("");
    await grant.getByLabel("Path").fill("demo/**");
    await grant.getByRole("button", { name: "Grant" }).click();
    await page.getByText("may listen to demo/**").waitFor();

    await page.getByRole("link", { name: "Methods" }).click();
    await page.getByText(/^double\(/).click(whole);
    await page
      .getByRole("form", { name: "Call double" })
      .getByLabel(/^value/)
      .fill("21");
    await page.getByRole("button", { name: "Call double" }).click();
    await expect
      .poll(() => page.getByRole("status", { name: "Answer of double" }).textContent(), whole)
      .toMatch(/^42/);

    await page.getByRole("link", { name: /^Alarms/ }).click();
    await page.getByText("supply is <i>too hot</i>").first().waitFor(whole);
    await enter(page, "/alerts");
    await page.getByText("supply is <i>too hot</i>").waitFor(whole);
    await page.getByRole("button", { name: "Clear supply/high of screen-boiler" }).click();
    // Its agent says that it lasts: clearing hides nothing.
    await page.getByText(/its agent says that it lasts/).waitFor(whole);
    await page.getByText("supply is <i>too hot</i>").waitFor(whole);

    await enter(page, "/agents/screen-boiler");
    page.once("dialog", (dialog) => void dialog.accept());
    await button(page, "Stop").click();
    await button(page, "Start").waitFor(whole);
    page.once("dialog", (dialog) => void dialog.accept());
    await button(page, "Remove").click();
    await expect.poll(() => new URL(page.url()).pathname, whole).toBe("/agents");
    await expect
      .poll(() => page.getByRole("link", { name: "screen-boiler" }).count(), whole)
      .toBe(0);

    await enter(page, "/audit?subject=screen-boiler*");
    await page.getByRole("region", { name: "Entries" }).getByRole("row").nth(1).waitFor();
    await button(page, "Verify").click();
    const finding = page.getByRole("status", { name: "Finding" });
    await expect.poll(() => finding.textContent(), whole).toContain("The log is whole");
    // The pattern that is none, and the alert that lasts. While it is removed its log ends, and the page may ask for that
    // once more.
    const others = complaints.filter((c) => !/status of 40[49]/.test(c));
    expect(others).toEqual([expect.stringContaining("status of 400")]);
  });

  test("keeps a document, says what is wrong with it, and goes back", async () => {
    const { page } = await openPage(browser);
    await enter(page, "/documents");
    await button(page, "New document").click();
    const form = page.getByRole("form", { name: "New document" });
    await form.getByLabel("Owner").selectOption("shared");
    await form.getByLabel("Name", { exact: true }).fill("screens.yaml");
    await form.getByRole("button", { name: "Write it" }).click();
    const text = page.getByRole("textbox", { name: "Text", exact: true });
    const save = async (content: string, told: string) => {
      await text.fill(content);
      await expect.poll(() => button(page, "Review changes").isDisabled()).toBe(false);
      await button(page, "Review changes").click();
      await button(page, "Save").click();
      const status = page.getByRole("status", { name: "Last change" });
      await expect.poll(() => status.textContent()).toBe(told);
    };
    await text.fill("limit: [1\n");
    await page.getByText("1 problem").waitFor();
    await save("limit: 80\n", "Saved as version 1.");
    await save("limit: 75\n", "Saved as version 2.");
    await page.getByRole("button", { name: "Compare and bring back version 1" }).click();
    await page.getByText("added: limit: 80").waitFor();
    await expect.poll(() => button(page, "Save").isDisabled()).toBe(false);
    await button(page, "Save").click();
    await expect.poll(() => text.inputValue()).toBe("limit: 80\n");
    page.once("dialog", (dialog) => void dialog.accept());
    await button(page, "Delete").click();
    await page.getByRole("heading", { name: "Documents", exact: true }).waitFor();
  });

  test("gives own tokens that log in, and takes them back", async () => {
    const { page } = await openPage(browser);
    await enter(page, "/people");
    await button(page, "Create a token").click();
    const form = page.getByRole("form", { name: "Create a token" });
    await form.getByLabel("Name").fill("screens");
    await form.getByRole("button", { name: "Make it" }).click();
    const secret = await page.locator(".secret code").textContent();
    const asks = () =>
      fetch(`${url}/api/v1/session`, { headers: { Authorization: `Bearer ${secret}` } });
    expect(await (await asks()).json()).toMatchObject({ role: "viewer" });
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Revoke screens" }).click();
    await expect.poll(async () => (await asks()).status).toBe(401);
  });
});
