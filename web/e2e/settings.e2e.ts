import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { plant, Settings } from "./stand-config";

const open = useBrowser();

async function settings(text = plant, more: { browser?: typeof phone; role?: string } = {}) {
  const config = new Settings(text, "ann");
  const opened = await open({
    site: building,
    address: "/settings",
    handlers: config.handlers,
    ...more,
  });
  return { config, ...opened };
}

const editor = (page: Page) => page.getByRole("textbox", { name: "Configuration" });
const check = (page: Page) => page.getByRole("status", { name: "Check" });
const review = (page: Page) => page.getByRole("button", { name: "Review changes" });
/** Waits until a change is known, and so asked about before it is thrown away. */
const isGuarded = (page: Page) => expect.poll(() => review(page).isDisabled()).toBe(false);

describe("the settings", () => {
  test("show the text, and judge a change as it is typed, at its line", async () => {
    const { page, complaints } = await settings();
    expect(await editor(page).inputValue()).toBe(plant);
    expect(await review(page).isDisabled()).toBe(true);
    await editor(page).fill(plant.replace("1s", "nonsense"));
    await expect.poll(() => check(page).textContent()).toBe("1 problem");
    await page.getByText('"nonsense" is no duration; write for example 10s').waitFor();
    expect(await review(page).isDisabled()).toBe(true);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Line 6" }).click();
    const at = await editor(page).evaluate((e) => (e as HTMLTextAreaElement).selectionStart);
    expect(plant.slice(0, at).split("\n").length).toBe(6);
    expect(complaints).toEqual([]);
  });

  test("show the difference, apply it, and say what it did", async () => {
    const { config, page } = await settings();
    const changed = plant.replace("campus/plant/meter", "campus/plant/meter2");
    await editor(page).fill(changed);
    await expect.poll(() => check(page).textContent()).toContain("campus/plant/meter2 is added.");
    await review(page).click();
    const difference = page.getByRole("region", { name: "Difference" });
    await difference.getByText("added: - path: campus/plant/meter2").waitFor();
    await difference.getByText("removed: - path: campus/plant/meter").first().waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Apply" }).click();
    const told = page.getByRole("status", { name: "Last change" });
    await expect.poll(() => told.textContent()).toContain("Applied.");
    expect(config.text).toBe(changed);
    expect(await editor(page).inputValue()).toBe(changed);
  });

  test("do not overwrite what somebody else changed", async () => {
    const { config, page } = await settings();
    await editor(page).fill(plant.replace("10s", "20s"));
    await expect.poll(() => review(page).isDisabled()).toBe(false);
    await review(page).click();
    const theirs = plant.replace("# The plant", "# The old plant");
    config.write(theirs, "bob");
    await page.getByRole("button", { name: "Apply" }).click();
    await expect
      .poll(() => page.getByRole("alert").textContent())
      .toContain("Somebody else changed");
    expect(config.text).toBe(theirs);
    await page.getByText("removed: # The old plant of the campus").waitFor();
  });

  test("bring an earlier text back", async () => {
    const config = new Settings(plant, "ann");
    config.write(plant.replace("meter", "counter"), attacks[0]);
    config.write(plant.replace("meter", "clock"), "bob");
    const { page } = await open({
      site: building,
      address: "/settings",
      handlers: config.handlers,
    });
    await page.getByRole("cell", { name: attacks[0] }).waitFor();
    const first = page.getByRole("row", { name: /ann/ });
    await first.getByRole("button", { name: "Compare and bring back" }).click();
    await page.getByText("added: - path: campus/plant/meter").waitFor();
    const apply = page.getByRole("button", { name: "Apply" });
    await expect.poll(() => apply.isDisabled()).toBe(false);
    await apply.click();
    await expect.poll(() => config.text).toBe(plant);
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
  });

  test("ask before a change is thrown away", async () => {
    const { page } = await settings();
    await editor(page).fill(`${plant}# more`);
    await isGuarded(page);
    page.once("dialog", (dialog) => void dialog.dismiss());
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    expect(new URL(page.url()).pathname).toBe("/settings");
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
  });

  test("ask before the way back throws a change away", async () => {
    const { page } = await settings();
    await page.getByRole("link", { name: "Overview", exact: true }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await page.getByRole("link", { name: "Settings", exact: true }).click();
    await editor(page).fill(`${plant}# more`);
    await isGuarded(page);
    const path = () => new URL(page.url()).pathname;
    const back = async (answer: "accept" | "dismiss") => {
      const asked = page.waitForEvent("dialog");
      await page.evaluate(() => history.back());
      await (await asked)[answer]();
    };
    await back("dismiss");
    await expect.poll(path).toBe("/settings");
    expect(await editor(page).inputValue()).toBe(`${plant}# more`);
    await back("accept");
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    await expect.poll(path).toBe("/");
  });

  test("show markup in the text as text", async () => {
    const { page, complaints } = await settings(`# ${attacks[0]}\n# ${attacks[1]}\n`);
    await editor(page).fill(`# ${attacks[0]}\n# ${attacks[1]}\n# ${attacks[2]}\n`);
    await expect.poll(() => review(page).isDisabled()).toBe(false);
    await review(page).click();
    await page.getByText(`added: # ${attacks[2]}`).waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(complaints).toEqual([]);
  });

  test("fit a phone", async () => {
    const { page } = await settings(plant, { browser: phone });
    await editor(page).waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("are not for an operator", async () => {
    const { page } = await settings(plant, { role: "operator" });
    await page.getByRole("heading", { name: "Settings is not for this account" }).waitFor();
    expect(await page.getByRole("link", { name: "Settings", exact: true }).count()).toBe(0);
  });
});
