import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";

const open = useBrowser();
const account = "Account";

describe("the ledger", () => {
  test("proves that nothing is lost", async () => {
    const { page, complaints } = await open({ site: building, address: "/ledger" });
    await page.getByRole("status", { name: account }).getByText("none is lost").waitFor();
    const row = page
      .getByRole("region", { name: "Account of each origin" })
      .getByRole("row")
      .nth(1);
    const cells = await row.getByRole("cell").allTextContents();
    expect(cells[1]).toBe(`= ${cells[0]}`);
    expect(cells[2]).toBe(`= ${cells[0]}`);
    expect(cells.at(-1)).toBe("✓ balanced");
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("tells on a phone what is lost and why, hostile names as text", async () => {
    const { node, page } = await open({ site: building, address: "/ledger", browser: phone });
    node.ledger = {
      origins: [
        {
          origin: attacks[0],
          own: true,
          produced: 1000,
          acknowledged: 1000,
          stored: 880,
          refused: 0,
          missing: 100,
          repeated: 3,
          left_out: 0,
          backlog_blocks: 1,
          backlog_samples: 20,
          balanced: true,
        },
      ],
      gaps: [
        {
          origin: attacks[1],
          first: 7,
          last: 8,
          samples: 100,
          reason: "dropped",
          noticed: "2026-11-20T10:00:00Z",
        },
      ],
      damaged: [{ file: attacks[2], reason: attacks[3], noticed: "2026-11-20T10:00:00Z" }],
    };
    await page
      .getByRole("status", { name: account })
      .getByText("100 of 1,000 samples are lost")
      .waitFor();
    await page.getByText("The log was full").waitFor();
    await page.getByText(attacks[2], { exact: true }).waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await page.locator("img, iframe, object, style").count()).toBe(0);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });
});
