import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { curvePixels, seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, type Site } from "./sites";
import type { Stand } from "./stand";
import { fresh } from "./stand-setup";

const open = useBrowser();

async function first(browser = {}) {
  const site: Site = [];
  const at: { stand?: Stand } = {};
  const handlers = fresh(() => {
    if (!at.stand) throw new Error("asked before it stands");
    return at.stand;
  }, site);
  const opened = await open({
    site,
    address: "/",
    handlers,
    browser,
    began: (stand) => {
      at.stand = stand;
    },
  });
  await opened.page.getByRole("heading", { name: "First steps" }).waitFor();
  return { site, ...opened };
}

async function admit(page: Page, name = "ann") {
  const form = page.getByRole("form", { name: "Site and administrator" });
  await form.getByLabel("Name of the site").fill("campus");
  await form.getByLabel("Administrator").fill(name);
  await form.getByLabel("New password", { exact: false }).first().fill("a long password");
  await form.getByLabel("New password again").fill("a long password");
  await form.getByRole("button", { name: "Create the administrator" }).click();
}

const device = (page: Page) => page.getByRole("form", { name: "First device" });
const outcome = (page: Page) => page.getByRole("status", { name: "Outcome" });

describe("the first steps", () => {
  test("lead from an empty node to a curve", async () => {
    const { site, node, page, complaints } = await first();
    expect(await seriousViolations(page)).toEqual([]);
    await admit(page);
    await device(page).getByRole("button", { name: "Try it" }).click();
    await expect
      .poll(() => outcome(page).textContent())
      .toMatch(/It answers within 12 ms with 6 points/);
    expect(site).toEqual([]);
    expect(await seriousViolations(page)).toEqual([]);
    await device(page).getByRole("button", { name: "Add the device" }).click();
    await page.getByText("campus/ahu1 is added.").waitFor();
    await expect.poll(() => curvePixels(page, 0), { timeout: 15_000 }).toBeGreaterThan(20);
    expect(await seriousViolations(page)).toEqual([]);
    expect(node.passwords.get("ann")).toBe("a long password");
    expect(complaints).toEqual([]);
  });

  test("show who came in, and the next login is by name and password", async () => {
    const { page } = await first();
    await admit(page);
    await device(page).waitFor();
    await page.getByTitle("Logged in as ann, administrator").first().waitFor();
    await page.getByRole("button", { name: "Log out" }).first().click();
    await page.getByLabel("Name", { exact: true }).fill("ann");
    await page.getByLabel("Password").fill("wrong");
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("do not fit");
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByLabel("Password").fill("a long password");
    await page.getByRole("button", { name: "Log in", exact: true }).click();
    await page.getByRole("main").waitFor();
  });

  test("tell why a device cannot be tried, and show markup as text", async () => {
    const { page } = await first();
    await admit(page);
    await page.getByRole("radio", { name: /A Modbus device/ }).check();
    await device(page).getByRole("button", { name: "Try it" }).click();
    await expect.poll(() => outcome(page).textContent()).toContain("Give the address");
    await device(page).getByLabel("Address", { exact: true }).fill(attacks[0]);
    await device(page).getByLabel("Name of register 1").fill("supply");
    await device(page).getByRole("button", { name: "Try it" }).click();
    await expect
      .poll(() => outcome(page).textContent())
      .toContain(`Check its power, cable and address.dial ${attacks[0]}: connection refused`);
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await seriousViolations(page)).toEqual([]);
    await device(page).getByLabel("Unit", { exact: true }).fill("2");
    await expect.poll(() => outcome(page).textContent()).toBe("");
  });

  test("tell why a name does not do, and fit a phone", async () => {
    const { page } = await first(phone);
    await admit(page, attacks[0]);
    await expect.poll(() => page.getByRole("alert").textContent()).toContain("is no name");
    expect(await sidewaysScroll(page)).toBe(0);
    await admit(page);
    await page.getByRole("radio", { name: /A Modbus device/ }).check();
    await page.getByRole("button", { name: "Add a register" }).click();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });
});
