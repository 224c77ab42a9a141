import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { curvePixels, seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { building } from "./sites";
import { history } from "./stand-explore";

const boiler = "campus/plant/boiler1";
const two = `/explore?point=${boiler}/supply_temp&point=${boiler}/power&range=1d`;
const berlin = "Europe/Berlin";

const browser = useBrowser();
const open = (address: string, more = {}) =>
  browser({
    site: building,
    address,
    handlers: history(building),
    began: (stand) => {
      stand.zone = berlin;
    },
    ...more,
  });

const params = (page: Page) => new URL(page.url()).searchParams;
const drawn = (page: Page, ...curves: number[]) =>
  Promise.all(curves.map((i) => expect.poll(() => curvePixels(page, i)).toBeGreaterThan(100)));

describe("the choice of dates", () => {
  test("is made by keys, in whole days of the site", async () => {
    const { page, complaints } = await open(
      `${two}&from=2026-03-30T10:00:00Z&to=2026-03-30T12:00:00Z`,
    );
    const button = page.getByRole("button", { name: "Dates…" });
    await button.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Dates and times" });
    await dialog.getByRole("button", { name: "30 March 2026" }).focus();
    expect(await seriousViolations(page)).toEqual([]);
    // Back over the day of 23 hours: Saturday, then Sunday
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    expect(await dialog.getByRole("textbox", { name: "From" }).inputValue()).toBe(
      "2026-03-28 00:00",
    );
    expect(await dialog.getByRole("textbox", { name: "To" }).inputValue()).toBe("2026-03-30 00:00");
    await dialog.getByRole("textbox", { name: "To" }).focus();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "hidden" });
    expect(params(page).get("from")).toBe("2026-03-27T23:00:00.000Z");
    expect(params(page).get("to")).toBe("2026-03-29T22:00:00.000Z");
    await page.getByText("2026-03-28 00:00:00 to 2026-03-30 00:00:00").waitFor();
    // The same instants by another clock
    await page.getByRole("combobox", { name: "Time zone" }).selectOption("utc");
    await page.getByText("2026-03-27 23:00:00 to 2026-03-29 22:00:00").waitFor();
    expect(complaints).toEqual([]);
  });

  test("says what is wrong, and closes with Escape", async () => {
    const { page } = await open(two);
    await page.getByRole("button", { name: "Dates…" }).click();
    const dialog = page.getByRole("dialog", { name: "Dates and times" });
    await dialog.getByRole("textbox", { name: "From" }).fill("31.12.2025");
    await page.keyboard.press("Enter");
    await dialog.getByRole("alert").getByText("31.12.2025 is no time").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Dates…" }).click();
    await dialog.getByRole("button", { name: "Last week" }).click();
    await expect.poll(() => params(page).get("from")).not.toBeNull();
    const hours =
      Date.parse(params(page).get("to") ?? "") - Date.parse(params(page).get("from") ?? "");
    expect([167, 168, 169]).toContain(hours / 3_600_000);
  });
});

describe("a comparison", () => {
  test("has its difference drawn and said, and statistics of both", async () => {
    const { page, complaints } = await open(`${two}&compare=week`);
    await drawn(page, 0, 1);
    await page.getByRole("button", { name: "Difference", exact: true }).click();
    await page.getByRole("button", { name: "Statistics" }).click();
    const table = page.getByRole("region", { name: "Statistics of the shown points" });
    const power = table.getByRole("row", { name: /power/ });
    await power.getByText(/kWh$/).waitFor();
    await table.getByRole("columnheader", { name: "Difference" }).waitFor();
    // Kelvin without a share for temperatures, a share for power
    await table
      .getByRole("row", { name: /supply_temp/ })
      .getByText(/ K$/)
      .waitFor();
    await power.getByText(/ kW \(.*%\)$/).waitFor();
    expect(params(page).get("difference")).toBe("shown");
    const box = await page.locator(".u-over").boundingBox();
    if (!box) throw new Error("the plot has no box");
    await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
    await page
      .getByText(/^difference /)
      .first()
      .waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("fits a phone", async () => {
    const { page } = await open(`${two}&compare=week&difference=shown&statistics=shown`, {
      browser: phone,
    });
    await drawn(page, 0);
    await page.getByRole("button", { name: "Dates…" }).click();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });
});
