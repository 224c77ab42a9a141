import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { AuditLog, morning, type Noted } from "./stand-audit";

const open = useBrowser();

async function audit(noted: readonly Noted[] = morning, more: object = {}) {
  const log = new AuditLog(noted);
  const opened = await open({ site: building, address: "/audit", handlers: log.handlers, ...more });
  return { log, ...opened };
}

const rows = (page: Page) => page.getByRole("table").getByRole("row");
const finding = (page: Page) => page.getByRole("status", { name: "Finding" });

describe("the audit log", () => {
  test("shows who did what, the newest first, and what is behind it", async () => {
    const { page, complaints } = await audit();
    await rows(page).nth(1).getByText("Token issued").waitFor();
    expect(await rows(page).count()).toBe(morning.length + 1);
    await page.getByText("Details of entry 10").click();
    await page.getByText('"under": "campus/b1"').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("keeps its filter in the address", async () => {
    const { page, log } = await audit();
    const filter = page.getByRole("form", { name: "Filter" });
    await filter.getByLabel("Who").fill("person:*");
    await filter.getByLabel("Action").fill("login*");
    await filter.getByLabel("Time").selectOption("Last 7 days");
    await filter.getByRole("button", { name: "Show" }).click();
    await expect.poll(() => rows(page).count()).toBe(4);
    expect(new URL(page.url()).search).toBe("?actor=person%3A*&action=login*&from=-7d");
    expect(log.asked.at(-1)?.get("from")).toBe("-7d");
    const link = await page.getByRole("link", { name: "Export" }).getAttribute("href");
    expect(link).toBe("/api/v1/audit/export?actor=person%3A*&action=login*&from=-7d");
    await page.goBack();
    await expect.poll(() => rows(page).count()).toBe(morning.length + 1);
    expect(await filter.getByLabel("Who").inputValue()).toBe("");
  });

  test("is narrowed by what stands in an entry", async () => {
    const { page } = await audit();
    await page.getByRole("button", { name: "agent:boiler-watch", exact: true }).click();
    await expect.poll(() => rows(page).count()).toBe(2);
    await page.getByText("missing: publish campus/plant/boiler1/setpoint").waitFor();
  });

  test("is walked page by page", async () => {
    const many = Array.from({ length: 230 }, (_, i) => ({
      actor: "person:ann",
      action: "login",
      subject: `visit ${i + 1}`,
    }));
    const { page } = await audit(many);
    await page.getByRole("button", { name: "visit 230", exact: true }).waitFor();
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByRole("button", { name: "visit 130", exact: true }).waitFor();
    await page.getByRole("button", { name: "Older" }).click();
    await page.getByRole("button", { name: "visit 1", exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Older" }).count()).toBe(0);
    await page.getByRole("button", { name: "Newest" }).click();
    await page.getByRole("button", { name: "visit 230", exact: true }).waitFor();
  });

  test("says whether it is whole", async () => {
    const { log, page } = await audit();
    await page.getByRole("button", { name: "Verify" }).click();
    await expect.poll(() => finding(page).textContent()).toContain("is whole: 10 entries");
    log.damaged = 4;
    await page.getByRole("button", { name: "Verify" }).click();
    await expect.poll(() => finding(page).textContent()).toContain("is damaged: 1 problem");
    await page.getByText("does not fit its hash").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("shows markup as text, on a phone as well", async () => {
    const hostile = attacks.map((a) => ({
      actor: a,
      action: a,
      subject: a,
      outcome: a,
      detail: a,
    }));
    const { page, complaints } = await audit(hostile, { browser: phone });
    await expect.poll(() => rows(page).count()).toBe(attacks.length + 1);
    expect(await sidewaysScroll(page)).toBe(0);
    await page.getByRole("button", { name: attacks[0] }).first().click();
    await expect.poll(() => rows(page).count()).toBe(2);
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("is not for an operator", async () => {
    const { page } = await audit(morning, { role: "operator" });
    await page.getByRole("heading", { name: "Audit is not for this account" }).waitFor();
  });
});
