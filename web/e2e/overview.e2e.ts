import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building, hostile, troubled } from "./sites";
import { aConcern } from "./stand";
import { inMinutes } from "./stand-control";
import { Joined, toldNode } from "./stand-nodes";

const open = useBrowser();
const verdict = (page: Page) => page.getByRole("region", { name: "Verdict" });
const config = {
  history: [{ version: "1", time: new Date().toISOString(), user: attacks[0] }],
};

const aWeek = 7 * 24 * 60;

describe("the overview", () => {
  test("names a child node that is away, and leads to it", async () => {
    const joined = new Joined();
    joined.nodes = [
      toldNode("campus", [], { state: "here", parent: "" }),
      toldNode("plant-1", ["plant-1"]),
      toldNode("plant-2", ["plant-2"], {
        ...{ state: "away", since: inMinutes(-aWeek), link_note: attacks[0] },
      }),
    ];
    const { page, complaints } = await open({
      ...{ site: building, address: "/", handlers: joined.handlers, browser: phone },
      began: (stand) => {
        stand.concerns = [
          aConcern("nodes", "the node plant-2 is away; what it records waits on its disk", {
            link: "/node/plant-2",
          }),
          aConcern("alerts", `warning of ${attacks[0]}: too hot`, { link: "/alerts" }),
        ];
      },
    });
    await verdict(page).getByText("Worth a look").waitFor();
    await verdict(page).getByText(attacks[0]).waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await seriousViolations(page)).toEqual([]);
    await verdict(page).getByRole("link", { name: "plant-2 is away" }).click();
    await page.getByRole("heading", { name: "plant-2" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("says on a phone that all is well, with the proof", async () => {
    const { page, complaints } = await open({ site: building, address: "/", browser: phone });
    await verdict(page).getByText("All is well").waitFor();
    expect(await verdict(page).textContent()).toMatch(/All 10 devices answer; [\d,]+ samples/);
    await page.getByRole("region", { name: "The building" }).getByText("°C").first().waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("main").getByRole("link", { name: "System" }).click();
    const proof = page.getByRole("region", { name: "Loss, in numbers" });
    const cells = await proof.getByRole("row").nth(1).getByRole("cell").allTextContents();
    expect(cells[0]).toBe(cells[2]);
    expect(cells[4]).toBe("0");
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("says what is wrong, what to do, and leads to the device", async () => {
    const { page } = await open({ site: troubled, address: "/" });
    await verdict(page).getByText("Something is wrong").waitFor();
    await verdict(page).getByText("Check its power, cable and address.").waitFor();
    await verdict(page).getByRole("link", { name: "meter does not answer" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe("/device/campus/plant/meter");
  });

  test("says that a recording stands still", async () => {
    const { node, page } = await open({ site: building, address: "/" });
    await verdict(page).getByText("All is well").waitFor();
    node.ledger = { state: "paused", reason: "the disk is full: free 2 GB" };
    const link = verdict(page).getByRole("link");
    await link.getByText("nothing is recorded: the disk is full: free 2 GB").waitFor();
  });

  test("leaves what goes through to the screen of the system", async () => {
    const { page } = await open({ site: building, address: "/system" });
    const samples = page.locator(".figure", { hasText: "Samples" }).locator("strong");
    // The stand counts whole seconds: the longer it is looked at, the nearer is the rate
    const isNear = (shown: string | null) => {
      const rate = Number.parseFloat(shown ?? "");
      return rate > 30 && rate < 110;
    };
    await expect.poll(() => samples.textContent(), { timeout: 30_000 }).toSatisfy(isNear);
  });

  test("shows what changed, and what room there is", async () => {
    const { page } = await open({
      site: building,
      address: "/",
      handlers: {
        "GET config": () => config,
        "GET capacity": () => ({
          measured: "2026-03-01T08:00:00Z",
          words: [`This machine carries 9 more ${attacks[1]}.`, "The processor binds first."],
        }),
      },
    });
    const events = page.getByRole("region", { name: "What changed in the last 24 hours" });
    await events.getByText(`${attacks[0]} changed the configuration`).waitFor();
    await events.getByText("The node started").waitFor();
    await page.getByRole("main").getByRole("link", { name: "System" }).click();
    await page
      .getByText(`This machine carries 9 more ${attacks[1]}. The processor binds first.`)
      .waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
  });

  test("asks a viewer nothing that he may not know", async () => {
    const asked: string[] = [];
    const { page } = await open({
      site: building,
      address: "/",
      role: "viewer",
      handlers: { "GET config": () => asked.push("config") },
    });
    await page.getByText("The node started").waitFor();
    expect(asked).toEqual([]);
  });

  test("shows hostile names as text", async () => {
    const { page, complaints } = await open({ site: hostile, address: "/", browser: phone });
    await verdict(page).getByText("script> does not answer").first().waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await page.locator("img, iframe, object, style").count()).toBe(0);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(complaints).toEqual([]);
  });
});
