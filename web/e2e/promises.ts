// What every node must show, whatever its site is.

import type { Page } from "playwright-core";
import { expect } from "vitest";
import { curvePixels, seriousViolations, sidewaysScroll } from "./browser";

/** The page logs in by the link, forgets the token, and its site screen chooses a branch and a plot by itself. */
export async function logsInByLink(page: Page, url: string, token: string): Promise<void> {
  await page.goto(`${url}/#token=${encodeURIComponent(token)}`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(page.url()).not.toContain("token");
  await page.getByRole("link", { name: "Site", exact: true }).click();
  await page.getByRole("heading", { name: "Plot" }).waitFor();
  await expect.poll(() => page.url()).toContain("point=");
}

/** At least one value of the table changes by itself. */
export async function showsLiveValues(page: Page): Promise<void> {
  const values = page.getByRole("region", { name: "Live values" }).locator("td.value");
  // The points and their values come by two ways
  const hasFigures = (texts: readonly string[]) => texts.some((text) => /\d/.test(text));
  await expect.poll(() => values.allTextContents(), { timeout: 15_000 }).toSatisfy(hasFigures);
  const before = await values.allTextContents();
  await expect.poll(() => values.allTextContents(), { timeout: 15_000 }).not.toEqual(before);
}

/** The first curve is drawn, not only its axes. */
export async function drawsPlot(page: Page): Promise<void> {
  await page.getByRole("img", { name: /^Plot of / }).waitFor();
  await expect.poll(() => curvePixels(page, 0), { timeout: 15_000 }).toBeGreaterThan(100);
}

/** One sentence says how devices and recording do. */
export async function saysHealth(page: Page): Promise<void> {
  const sentence = page.getByRole("status", { name: "Health" });
  await expect
    .poll(() => sentence.textContent(), { timeout: 15_000 })
    .toMatch(/device.*; .*sample/);
}

/** The page is usable on a phone and by people who use other means than a mouse and eyes. */
export async function fitsEverybody(page: Page): Promise<void> {
  expect(await seriousViolations(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 740 });
  await expect.poll(() => sidewaysScroll(page)).toBe(0);
  expect(await seriousViolations(page)).toEqual([]);
}
