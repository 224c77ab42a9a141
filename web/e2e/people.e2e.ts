import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { People } from "./stand-people";

const open = useBrowser();

async function people(role = "administrator", browser = {}) {
  const known = new People({ ann: "engineer", [attacks[0]]: "viewer" });
  const opened = await open({
    site: building,
    address: "/people",
    handlers: known.handlers,
    role,
    browser,
  });
  return { known, ...opened };
}

const item = (page: Page, name: string) =>
  page.getByRole("list", { name: "People" }).getByRole("listitem").filter({ hasText: name });

async function typePassword(page: Page, form: string, password: string) {
  const fields = page.getByRole("form", { name: form });
  await fields.getByLabel("New password", { exact: false }).first().fill(password);
  await fields.getByLabel("New password again").fill(password);
}

describe("people", () => {
  test("are listed, with hostile names as text", async () => {
    const { page, complaints } = await people();
    await item(page, "ann").getByText("engineer").waitFor();
    await item(page, attacks[0]).waitFor();
    expect(await item(page, "admin").getByRole("button").count()).toBe(0);
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("are added with a password that is typed twice", async () => {
    const { known, page } = await people();
    await page.getByRole("button", { name: "Add a person" }).click();
    const form = page.getByRole("form", { name: "Add a person" });
    await form.getByLabel("Name").fill("carl");
    await form.getByLabel("Role").selectOption("operator");
    await form.getByLabel("New password", { exact: false }).first().fill("a long password");
    await form.getByLabel("New password again").fill("another password");
    await form.getByRole("button", { name: "Add" }).click();
    await expect.poll(() => form.getByRole("alert").textContent()).toContain("differ");
    await typePassword(page, "Add a person", "a long password");
    expect(await seriousViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Add" }).click();
    await item(page, "carl").getByText("operator").waitFor();
    expect(known.passwords.get("carl")).toBe("a long password");
  });

  test("are told why a name does not do", async () => {
    const { page } = await people();
    await page.getByRole("button", { name: "Add a person" }).click();
    const form = page.getByRole("form", { name: "Add a person" });
    await form.getByLabel("Name").fill(attacks[0]);
    await typePassword(page, "Add a person", "a long password");
    await form.getByRole("button", { name: "Add" }).click();
    await expect.poll(() => form.getByRole("alert").textContent()).toContain("is no name");
  });

  test("change their role and keep their password", async () => {
    const { known, page } = await people();
    await page.getByRole("button", { name: "Change ann" }).click();
    const form = page.getByRole("form", { name: "Change ann" });
    await form.getByLabel("Role").selectOption("administrator");
    await form.getByRole("button", { name: "Save" }).click();
    await item(page, "ann").getByText("administrator").waitFor();
    expect(known.passwords.has("ann")).toBe(false);
  });

  test("are removed after a question", async () => {
    const { known, page } = await people();
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Remove ann" }).click();
    await expect.poll(() => item(page, "ann").count()).toBe(0);
    expect(known.list.map((p) => p.name)).toEqual(["admin", attacks[0]]);
  });

  test("make a token that can only record, see it once, and revoke it", async () => {
    const { known, page } = await people();
    await page.getByRole("button", { name: "Create a record-only token" }).click();
    const form = page.getByRole("form", { name: "Create a record-only token" });
    await form.getByLabel("Name").fill("logger");
    await form.getByLabel("Below").fill("campus/b1");
    expect(await seriousViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Make it" }).click();
    const once = page.getByRole("region", { name: "Token of logger" });
    await once.getByText("vb_secret_of_logger").waitFor();
    await once.getByRole("button", { name: "I have it" }).click();
    await expect.poll(() => page.getByText("vb_secret_of_logger").count()).toBe(0);
    await page.getByText("below campus/b1").waitFor();
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Revoke logger" }).click();
    await expect.poll(() => page.getByText("below campus/b1").count()).toBe(0);
    expect(known.tokens).toEqual([]);
  });

  test("make own tokens, with a role not above their own", async () => {
    const { known, page } = await people("operator", phone);
    await page.getByRole("button", { name: "Create a token" }).click();
    const form = page.getByRole("form", { name: "Create a token" });
    await form.getByLabel("Name").fill("script");
    expect(await form.getByLabel("Role").locator("option").allTextContents()).toEqual([
      "viewer",
      "operator",
    ]);
    await form.getByLabel("Role").selectOption("operator");
    await form.getByLabel("Holds").selectOption("30 days");
    expect(await seriousViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Make it" }).click();
    await page.getByText("vb_own_secret_of_script").waitFor();
    expect(known.own[0]?.role).toBe("operator");
    const days = (Date.parse(known.own[0]?.expires ?? "") - Date.now()) / 86_400_000;
    expect(Math.round(days)).toBe(30);
    expect(await sidewaysScroll(page)).toBe(0);
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Revoke script" }).click();
    await expect.poll(() => known.own).toEqual([]);
  });

  test("change their own password, whatever their role", async () => {
    const { known, page } = await people("viewer", phone);
    expect(await page.getByRole("heading", { name: "Accounts" }).count()).toBe(0);
    const form = page.getByRole("form", { name: "Your password" });
    await form.getByLabel("Present password").fill("wrong");
    await typePassword(page, "Your password", "a new password");
    await form.getByRole("button", { name: "Change password" }).click();
    await expect.poll(() => form.getByRole("alert").textContent()).toContain("not right");
    await form.getByLabel("Present password").fill("the old one");
    await form.getByRole("button", { name: "Change password" }).click();
    await expect.poll(() => form.getByRole("alert").textContent()).toContain("Changed.");
    expect(known.passwords.get("admin")).toBe("a new password");
    expect(await sidewaysScroll(page)).toBe(0);
  });
});
