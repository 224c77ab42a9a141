import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { building, hostile, troubled } from "./sites";
import { completeness } from "./stand-history";

const open = useBrowser();
const campus = "/site/completeness?branch=campus&span=7d";

describe("the completeness of a branch", () => {
  test("is a map with a row for each device, and its sum in words", async () => {
    const { page, complaints } = await open({
      site: troubled,
      address: campus,
      handlers: completeness(troubled),
    });
    await page.getByText(/complete: [\d,]+ of [\d,]+ expected samples/).waitFor();
    expect(await page.getByRole("rowheader").count()).toBe(10);
    const strip = page.getByRole("row", { name: "plant/meter" }).getByRole("img");
    expect(await strip.getAttribute("aria-label")).toMatch(/hole/);
    await strip.hover({ position: { x: 3, y: 9 } });
    await page.getByText(/^plant\/meter, \d+ \w+ \d\d:\d\d to /).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("leads from a cell to the explorer at that time", async () => {
    const handlers = completeness(building);
    const { page } = await open({ site: building, address: campus, handlers });
    const strip = page.getByRole("row", { name: "plant/boiler1" }).getByRole("img");
    await strip.click({ position: { x: 3, y: 9 } });
    await expect.poll(() => new URL(page.url()).pathname).toBe("/explore");
    const { searchParams } = new URL(page.url());
    const width =
      Date.parse(searchParams.get("to") ?? "") - Date.parse(searchParams.get("from") ?? "");
    expect(width).toBe(2 * 3_600_000);
    expect(searchParams.getAll("point")[0]).toBe("campus/plant/boiler1/supply_temp");
  });

  test("is a list of holes for those who do not point", async () => {
    const handlers = completeness(troubled);
    const { page } = await open({ site: troubled, address: campus, handlers });
    await page.getByRole("button", { name: "List" }).click();
    const hole = page.getByRole("row", { name: /campus\/plant\/meter/ }).first();
    await hole.getByRole("cell", { name: "0.0 %" }).waitFor();
    expect(await hole.getByRole("link").getAttribute("href")).toContain("/explore?point=");
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("follows the chosen span and branch, and the address says both", async () => {
    const handlers = completeness(building);
    const { page } = await open({ site: building, address: campus, handlers });
    await page.getByRole("button", { name: "Day" }).click();
    await page.getByRole("treeitem", { name: /^plant/ }).click();
    await page.getByRole("heading", { name: "Completeness of campus/plant" }).waitFor();
    expect(new URL(page.url()).search).toBe("?branch=campus%2Fplant&span=1d");
    await expect.poll(() => page.getByRole("rowheader").count()).toBe(2);
  });

  test("fits a phone", async () => {
    const handlers = completeness(building);
    const { page } = await open({ site: building, address: campus, handlers, browser: phone });
    await page.getByText(/complete: /).waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("shows hostile names as text", async () => {
    const { page, complaints } = await open({
      site: hostile,
      address: "/site/completeness?branch=",
      handlers: completeness(hostile),
    });
    await page.getByText(/complete: /).waitFor();
    await page.getByRole("button", { name: "List" }).click();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await page.locator("img, iframe, object, style").count()).toBe(0);
    expect(complaints).toEqual([]);
  });
});
