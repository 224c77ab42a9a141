import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { lab } from "./stand-lab";

const open = useBrowser();

describe("the lab", () => {
  test("runs an experiment with settings, shows how it goes, and stops it", async () => {
    const handlers = lab();
    const orders: unknown[] = [];
    const { page, complaints } = await open({
      site: building,
      address: "/lab",
      handlers: {
        ...handlers,
        "POST lab/runs": (call) => {
          orders.push(call.body);
          return handlers["POST lab/runs"]?.(call);
        },
      },
    });
    await page.getByRole("link", { name: "One scan of many devices" }).first().click();
    const form = page.getByRole("form", { name: "Run it" });
    await form.getByRole("textbox", { name: /^devices/ }).fill("50");
    await form.getByRole("button", { name: "Run" }).click();
    await page.getByRole("status").getByText("measuring").waitFor();
    expect(orders).toEqual([
      {
        experiment: "scrape",
        settings: { devices: "50" },
        repeats: 0,
        quick: true,
        with_peers: false,
      },
    ]);
    await page.getByRole("img", { name: "Latency over time" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Stop the run" }).click();
    await page.getByText("stopped", { exact: true }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("shows published, peer's and own figures with their ratio", async () => {
    const { page } = await open({ site: building, address: "/lab?run=r2", handlers: lab() });
    const table = page.getByRole("region", { name: "Figures of each case" });
    const row = table.getByRole("row", { name: /10,000 devices/ });
    await row.getByText("39.4").waitFor();
    expect(await row.textContent()).toContain("551 × better than Raspberry Pi 4");
    await page.getByText("it is not installed").waitFor();
    const report = page.getByRole("link", { name: "Open the report" });
    expect(await report.getAttribute("href")).toBe("/api/v1/lab/runs/r2/report");
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("compares reruns", async () => {
    const { page } = await open({
      site: building,
      address: "/lab?experiment=scrape",
      handlers: lab(),
    });
    const table = page.getByRole("region", { name: "Medians of the latest runs" });
    await expect.poll(() => table.getByRole("columnheader").count()).toBe(3);
    expect(await table.getByRole("row", { name: /^2,000 devices/ }).textContent()).toBe(
      "2,000 devices0.01650.0198",
    );
  });

  test("lets a viewer look, not run", async () => {
    const { page } = await open({
      site: building,
      address: "/lab?experiment=scrape",
      handlers: lab(),
      role: "viewer",
    });
    await page.getByRole("region", { name: "Published table" }).waitFor();
    expect(await page.getByRole("button", { name: "Run" }).count()).toBe(0);
  });

  test("shows hostile words as text, on a phone", async () => {
    const { page } = await open({
      site: building,
      address: "/lab?experiment=scrape",
      handlers: lab(attacks[0]),
      browser: phone,
    });
    await page.getByRole("heading", { name: attacks[0] }).waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await page.locator("img, iframe, object, style").count()).toBe(0);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });
});
