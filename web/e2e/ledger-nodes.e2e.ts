import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { ledgerHandlers, ledgerOf, type Way } from "./stand-ledger";
import { childOf } from "./stand-nodes";

const open = useBrowser();

describe("the ledger of several nodes", () => {
  test("shows a node that catches up, until every count agrees", async () => {
    let way: Way = { plant: 90_000, campus: 60_000, here: 50_000, away: 42_000 };
    const handlers = ledgerHandlers(() => way);
    const { page, complaints } = await open({ site: building, address: "/ledger", handlers });
    const account = page.getByRole("status", { name: "Account" });
    await account.getByText("Nothing was lost of 5,423,512 samples of 3 nodes.").waitFor();
    const outages = page.getByRole("list", { name: "Outages" });
    await outages.getByText(/campus was away .*; 0 of them arrived, 40,000 still come/).waitFor();
    await page
      .getByRole("img", { name: /steps arrived late|steps not here yet/ })
      .first()
      .waitFor();
    const stops = page
      .getByRole("list", { name: "The way of plant~9sd2kq", exact: true })
      .getByRole("listitem");
    await expect
      .poll(async () => (await stops.allTextContents()).map((t) => t.replace(/\s+/g, " ").trim()))
      .toEqual([
        expect.stringMatching(/^plant ?90,000 recorded.*as it said 4\d s ago$/),
        expect.stringContaining("30,000 coming"),
        expect.stringMatching(/^campus ?60,000 received/),
        expect.stringContaining("10,000 coming"),
        expect.stringMatching(/^region \(here\) ?50,000 received/),
      ]);
    const believe = page.getByRole("region", { name: "How it is proved" });
    await believe.getByText("1 node does not answer now").waitFor();
    await believe.getByText("5,423,512 = 5,383,512 here + 40,000 still to come").waitFor();
    expect(await seriousViolations(page)).toEqual([]);

    way = { plant: 90_000, campus: 80_000, here: 75_000 };
    const catching = page.getByRole("status", { name: "Catching up" });
    await catching.getByText(/15,000 still to come; .* a second arrive, so all are here/).waitFor();
    way = { plant: 90_000, campus: 90_000, here: 90_000 };
    await catching.waitFor({ state: "detached" });
    await outages.getByText(/40,000 readings waited there; all arrived, once, by .*/).waitFor();
    const row = page.getByRole("list", { name: "The way of each origin" });
    await expect.poll(() => row.getByText("every count agrees: nothing lost").count()).toBe(4);
    await believe.getByText("160 samples came twice, and are stored once").waitFor();
    expect(complaints).toEqual([]);
  });

  test("draws completeness by node, and names losses with who knows of them", async () => {
    const way: Way = { plant: 90_000, campus: 90_000, here: 90_000, lost: 400 };
    const handlers = ledgerHandlers(() => way);
    const shut = childOf("chiller", { state: "revoked", prefix: "campus/plant/chiller" });
    const { page } = await open({
      ...{ site: building, address: "/ledger" },
      handlers: { ...handlers, "GET children": () => ({ children: [shut] }) },
    });
    const heat = page.getByRole("region", { name: "Completeness of the history here, by node" });
    await heat.getByRole("img", { name: "1 hole" }).waitFor();
    expect(await heat.getByRole("rowheader").allTextContents()).toEqual([
      "region",
      "campus",
      "plant",
      "chiller (shut out)",
    ]);
    const gaps = page.getByRole("region", { name: "Missing blocks" });
    await gaps.getByText("region, campus").waitFor();
    await gaps.getByText("The log was full").waitFor();
    await page.getByText("samples are lost; the gaps say why").waitFor();
    await page.getByText("All counts as a table").click();
    const table = page.getByRole("region", { name: "Counts of each origin at each node" });
    expect(await table.getByRole("row").count()).toBe(1 + 1 + 2 + 3 + 3);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("shows on a phone what hostile nodes say, as text", async () => {
    const told = ledgerOf({ plant: 9, campus: 9, here: 9 });
    const [name = "", origin = "", reason = "", words = ""] = attacks;
    const handlers = {
      ...ledgerHandlers(() => ({ plant: 9, campus: 9, here: 9 })),
      "GET ledger": () => ({
        ...told,
        sentence: words,
        nodes: told.nodes?.map((n) => ({
          ...n,
          ...(n.path.length > 0 ? { node: name, state: "old", reason } : {}),
          origins: (n.origins ?? []).map((o) => ({ ...o, origin: origin + o.origin })),
        })),
      }),
    };
    const { page } = await open({
      ...{ site: building, address: "/ledger", handlers, browser: phone },
    });
    await page
      .getByRole("list", { name: "The way of each origin" })
      .getByText(name)
      .first()
      .waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await page.locator("main :is(img, iframe, object, style)").count()).toBe(0);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });
});
