import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { Destinations } from "./stand-destinations";

const open = useBrowser();

async function destinations(more: object = {}, stand = new Destinations()) {
  const opened = await open({
    site: building,
    address: "/destinations",
    handlers: stand.handlers,
    ...more,
  });
  return { stand, ...opened };
}

describe("destinations", () => {
  test("says of each what it has, and why nothing is sent to one", async () => {
    const { page, complaints } = await destinations();
    await page.getByText("It has every reading: 4,020,400 of 4,020,400.").waitFor();
    const away = page.getByRole("region", { name: "search" });
    await away.getByText("nothing listens there; start it").waitFor();
    await away.getByText("10,252 samples, 3 min").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("shows what one refused, and sends it again", async () => {
    const { page, stand } = await destinations({ role: "engineer" });
    await page.getByRole("link", { name: "warehouse" }).click();
    await page.getByText("the column value takes numbers only").first().waitFor();
    await page.getByRole("progressbar", { name: "History sent" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Send again" }).press("Enter");
    await page.getByText("2 readings accepted, 0 still refused.").waitFor();
    expect(stand.asked).toEqual(["resend warehouse"]);
  });

  test("discards what one refused, once a person has confirmed it", async () => {
    const { page, stand } = await destinations({ address: "/destinations/warehouse" });
    page.once("dialog", (d) => void d.dismiss());
    await page.getByRole("button", { name: "Discard" }).click();
    expect(stand.asked).toEqual([]);
    page.once("dialog", (d) => void d.accept());
    await page.getByRole("button", { name: "Discard" }).click();
    await page.getByText("2 readings discarded").waitFor();
    expect(stand.asked).toEqual(["discard warehouse"]);
  });

  test("has a destination get the history since a day, and says why not", async () => {
    const { page, stand } = await destinations({ address: "/destinations/stream" });
    await page.getByLabel("From the day").fill("2026-01-01");
    stand.refuses = "this node has no history to send";
    await page.getByRole("button", { name: "Send the history" }).click();
    await page.getByRole("alert").getByText("no history to send").waitFor();
    stand.refuses = "";
    await page.getByRole("button", { name: "Send the history" }).click();
    await page.getByRole("progressbar", { name: "History sent" }).waitFor();
    expect(stand.asked).toEqual(["backfill stream"]);
  });

  test("lets a viewer look only", async () => {
    const { page } = await destinations({ role: "viewer", address: "/destinations/warehouse" });
    await page.getByRole("status", { name: "Account" }).waitFor();
    expect(await page.getByRole("button", { name: /Send|Discard/ }).count()).toBe(0);
  });

  test("fits on a phone, and shows hostile text as text", async () => {
    const { page, complaints } = await destinations(
      { browser: { ...phone, viewport: { width: 320, height: 700 } } },
      new Destinations(attacks[0]),
    );
    await page.getByText("10,252 samples").waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "warehouse" }).click();
    await page.getByText("the column value takes numbers only").first().waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(complaints).toEqual([]);
  });
});
