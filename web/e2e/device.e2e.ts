import { describe, expect, test } from "vitest";
import { deviceAddress } from "../src/shell/place";
import { curvePixels, seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building, hostile, troubled } from "./sites";

const open = useBrowser();
const boiler = "/device/campus/plant/boiler1";

describe("the page of a device", () => {
  test("shows that it answers, its live points and its plot", async () => {
    const { page, complaints } = await open({ site: building, address: boiler });
    await page.getByRole("heading", { name: "boiler1" }).waitFor();
    await page
      .getByRole("region", { name: "Condition" })
      .getByText(/^Answers; read/)
      .waitFor();
    const values = page.getByRole("region", { name: "Live values" }).locator("td.value");
    await values.first().waitFor();
    const before = await values.allTextContents();
    await expect.poll(() => values.allTextContents(), { timeout: 15_000 }).not.toEqual(before);
    await expect.poll(() => curvePixels(page, 0)).toBeGreaterThan(100);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("says why a point cannot be relied on", async () => {
    const { page } = await open({ site: building, address: boiler });
    const concerns = page.getByRole("list", { name: "Points that are not good" });
    await concerns.getByText("flue_temp").waitFor();
    await concerns.getByText("the device answered with an error for this point").waitFor();
  });

  test("says what to do about one that does not answer", async () => {
    const { page } = await open({ site: troubled, address: "/device/campus/plant/meter" });
    const condition = page.getByRole("region", { name: "Condition" });
    await condition
      .getByText("Does not answer, and has not since the node began to ask it")
      .waitFor();
    await condition.getByText("Check its power, cable and address.").waitFor();
    await condition.getByText("connection refused").waitFor();
    await page.getByRole("region", { name: "Statistics" }).getByText("(100 %)").waitFor();
  });

  test("keeps what is plotted in its address", async () => {
    const { page } = await open({ site: building, address: boiler });
    await page.getByRole("checkbox", { name: "Plot flow" }).check();
    await expect
      .poll(() => new URL(page.url()).searchParams.getAll("point"))
      .toContain("campus/plant/boiler1/flow");
    await page.reload();
    await expect.poll(() => curvePixels(page, 2)).toBeGreaterThan(100);
  });

  test("fits a phone", async () => {
    const { page } = await open({ site: building, address: boiler, browser: phone });
    await page.getByRole("heading", { name: "Statistics" }).waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test.each(attacks.map((_, i) => i))("shows hostile text %i as text", async (i) => {
    const path = hostile[i]?.path ?? "";
    const { page, complaints } = await open({ site: hostile, address: deviceAddress(path) });
    await page.getByRole("region", { name: "Statistics" }).waitFor();
    const table = page.getByRole("region", { name: "Live values" });
    await table.getByRole("row").nth(1).waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await page.locator("img, iframe, object, style, script:not([src])").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("that is unknown says so", async () => {
    const { page } = await open({ site: building, address: "/device/no/such%20thing" });
    await page.getByRole("heading", { name: "There is no device “no/such thing”" }).waitFor();
  });
});
