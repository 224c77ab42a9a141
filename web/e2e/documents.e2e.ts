import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { limits, Shelf, shelf } from "./stand-documents";

const open = useBrowser();
const config = `/documents?${new URLSearchParams({ owner: "agent/boiler-watch", name: "config" })}`;

async function documents(address = "/documents", more: object = {}, docs = shelf()) {
  const opened = await open({ site: building, address, handlers: docs.handlers, ...more });
  return { docs, ...opened };
}

const text = (page: Page) => page.getByRole("textbox", { name: "Text", exact: true });
const review = (page: Page) => page.getByRole("button", { name: "Review changes" });

async function change(page: Page, to: string) {
  await text(page).fill(to);
  await expect.poll(() => review(page).isDisabled()).toBe(false);
  await review(page).click();
}

describe("the documents", () => {
  test("are listed by owner, and found by words", async () => {
    const { page, complaints } = await documents();
    const agent = page.getByRole("region", { name: "Agent boiler-watch" });
    await agent.getByRole("link", { name: "config" }).waitFor();
    await page.getByRole("searchbox", { name: "Find documents" }).fill("holidays");
    await expect.poll(() => agent.count()).toBe(0);
    await page.getByRole("region", { name: "Shared" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "holidays.json" }).click();
    await expect.poll(() => text(page).inputValue()).toBe("[]");
    expect(complaints).toEqual([]);
  });

  test("are judged as they are typed, at their line", async () => {
    const { page } = await documents(config);
    await text(page).fill(limits.replace("80", "nonsense"));
    const check = page.getByRole("status", { name: "Check" });
    await expect.poll(() => check.textContent()).toBe("1 problem");
    await page.getByRole("button", { name: "Line 2" }).click();
    expect(await review(page).isDisabled()).toBe(true);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("show the difference, and are saved with the reason", async () => {
    const { page, docs } = await documents(config);
    await change(page, limits.replace("80", "75"));
    await page.getByText("added: limit: 75").waitFor();
    await page.getByLabel(/^Why/).fill("autumn");
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Save" }).click();
    const told = page.getByRole("status", { name: "Last change" });
    await expect.poll(() => told.textContent()).toBe("Saved as version 4.");
    const kept = docs.newest("agent/boiler-watch", "config");
    expect([kept?.text, kept?.note]).toEqual([limits.replace("80", "75"), "autumn"]);
  });

  test("do not overwrite what somebody else saved", async () => {
    const { page, docs } = await documents(config);
    await change(page, limits.replace("60", "30"));
    const theirs = limits.replace("Limits", "The limits");
    docs.write("agent/boiler-watch", "config", theirs, { by: "person:bob" });
    await page.getByRole("button", { name: "Save" }).click();
    await expect
      .poll(() => page.getByRole("alert").first().textContent())
      .toContain("Somebody else changed");
    expect(docs.newest("agent/boiler-watch", "config")?.text).toBe(theirs);
    await page.getByText("removed: # The limits of the boilers").waitFor();
  });

  test("go back to an older version", async () => {
    const { page, docs } = await documents(config);
    await page.getByRole("button", { name: "Changes of version 2" }).click();
    const changes = page.getByRole("region", { name: "What version 2 changed" });
    await changes.getByText("removed: limit: 90").waitFor();
    await page.getByRole("button", { name: "Compare and bring back version 1" }).click();
    await page.getByText("added: limit: 90").waitFor();
    const save = page.getByRole("button", { name: "Save" });
    await expect.poll(() => save.isDisabled()).toBe(false);
    await save.click();
    await expect.poll(() => docs.broughtBack).toEqual([1]);
    await expect.poll(() => text(page).inputValue()).toBe(limits.replace("80", "90"));
  });

  test("are written anew, and deleted after a question", async () => {
    const { page, docs, complaints } = await documents();
    await page.getByRole("button", { name: "New document" }).click();
    const form = page.getByRole("form", { name: "New document" });
    await form.getByLabel("Name of the agent").fill("weather");
    await form.getByLabel("Name", { exact: true }).fill("stations.csv");
    expect(await form.getByLabel("Type").inputValue()).toBe("csv");
    expect(await seriousViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Write it" }).click();
    await change(page, "station\nberlin\n");
    await page.getByRole("button", { name: "Save" }).click();
    const told = page.getByRole("status", { name: "Last change" });
    await expect.poll(() => told.textContent()).toBe("Saved as version 1.");
    expect(docs.newest("agent/weather", "stations.csv")?.type).toBe("csv");
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "Documents", exact: true }).waitFor();
    expect(docs.newest("agent/weather", "stations.csv")?.deleted).toBe(true);
    expect(complaints).toEqual([]);
  });

  test("are only read by a viewer, also on a phone", async () => {
    const { page } = await documents(config, { role: "viewer", browser: phone });
    await page.getByText("limit: 80").waitFor();
    expect(await review(page).count()).toBe(0);
    expect(await page.getByRole("button", { name: /bring back/ }).count()).toBe(0);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("show markup as text", async () => {
    const docs = new Shelf();
    for (const a of attacks) docs.write(`device/${a}`, a, a, { by: a, note: a, type: "text" });
    const { page, complaints } = await documents("/documents", { browser: phone }, docs);
    await expect.poll(() => page.locator(".document-list a").count()).toBe(attacks.length);
    expect(await sidewaysScroll(page)).toBe(0);
    await page.locator(".document-list a").first().click();
    await text(page).waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(complaints).toEqual([]);
  });
});
