// The head of each screen on a phone: one line, also while the connection comes and goes.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { sidewaysScroll } from "./browser";
import { useBrowser } from "./harness";
import { troubled } from "./sites";

const open = useBrowser();

describe("the head", () => {
  test.each([
    [360, 640],
    [390, 844],
    [1440, 900],
  ])("of a page of %i × %i stays small when the node is back", async (width, height) => {
    const { node, page } = await open({
      site: troubled,
      address: "/site",
      browser: { viewport: { width, height }, hasTouch: width < 500 },
    });
    const head = page.locator("header.top");
    const tall = () => head.evaluate((e) => e.getBoundingClientRect().height);
    const line = page.getByRole("status", { name: "Connection" });
    await page.getByRole("status", { name: "Health" }).getByText("meter").waitFor();
    expect(await tall()).toBeLessThan(60);
    await node.stop();
    await expect
      .poll(() => line.textContent(), { timeout: 15_000 })
      .toContain("has not answered since");
    expect(await tall()).toBeLessThan(100);
    await node.start();
    await expect.poll(() => line.textContent(), { timeout: 20_000 }).toContain("Connected again.");
    expect(await tall()).toBeLessThan(60);
    expect(await sidewaysScroll(page)).toBe(0);
    const folder = process.env.VOLTBUS_PICTURES;
    if (folder) {
      mkdirSync(folder, { recursive: true });
      await page.screenshot({ path: join(folder, `head-${width}.png`) });
    }
  });
});
