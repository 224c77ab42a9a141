import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building, hostile } from "./sites";
import { bus } from "./stand-bus";

const open = useBrowser();

describe("the bus", () => {
  test("shows rates as a tree, and the messages of a branch", async () => {
    const { page, complaints } = await open({
      site: building,
      address: "/bus",
      handlers: bus(building),
    });
    const subjects = page.getByRole("region", { name: "Subjects" });
    for (const branch of ["live", "live.campus"]) {
      await subjects.getByRole("button", { name: `Unfold ${branch}`, exact: true }).click();
    }
    await subjects.getByRole("button", { name: "plant", exact: true }).click();
    const messages = page.getByRole("region", { name: "Newest messages" });
    const subject = page.getByRole("textbox", { name: "Subject" });
    await expect.poll(() => subject.inputValue()).toBe("live.campus.plant.>");
    const branches = async () =>
      (await messages.locator(".message-subject").allTextContents()).map((s) =>
        s.split(".").slice(0, 3).join("."),
      );
    await expect
      .poll(async () => new Set(await branches()))
      .toEqual(new Set(["live.campus.plant"]));
    await page.getByRole("button", { name: "Pause" }).click();
    const more = page.getByText(/more came that are not shown/);
    const told = await more.textContent();
    const first = messages.locator("summary").first();
    const before = await first.textContent();
    await expect.poll(() => more.textContent()).not.toBe(told);
    expect(await first.textContent()).toBe(before);
    await first.click();
    await messages.locator("pre").first().getByText('"device"').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("puts slow readers first", async () => {
    const { page } = await open({ site: building, address: "/bus", handlers: bus(building) });
    await page
      .getByRole("status", { name: "Slow readers" })
      .getByText("1 connection of 3 reads slower")
      .waitFor();
    const rows = page.getByRole("region", { name: "List of connections" }).getByRole("row");
    expect(await rows.nth(1).textContent()).toContain("archive slow");
  });

  test("shows hostile messages as text, on a phone", async () => {
    const { page, complaints } = await open({
      site: hostile,
      address: "/bus",
      handlers: bus(hostile),
      browser: phone,
    });
    const messages = page.getByRole("region", { name: "Newest messages" });
    await messages.getByText(attacks[0].slice(0, 12)).first().waitFor();
    await page.getByRole("button", { name: "Pause" }).click();
    await messages.locator("summary").first().click();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await page.locator("img, iframe, object, style").count()).toBe(0);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
