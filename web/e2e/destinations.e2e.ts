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

  test("shows what rules withhold with the value against its limits, and releases it by rule", async () => {
    const { page, stand, complaints } = await destinations({
      role: "engineer",
      address: "/destinations/search",
    });
    await page.getByText("500 is not from -20 to 90").waitFor();
    await page.getByText("plausible.py, line 9: ZeroDivisionError").waitFor();
    await page.getByText("412 marked, 12 without a verdict").waitFor();
    await page.getByText("Of 3 withheld readings: 3 wait for a person.").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("combobox", { name: "Rule" }).selectOption("spike");
    await page.getByText("500 is not from -20 to 90").waitFor({ state: "detached" });
    page.once("dialog", (d) => void d.dismiss());
    await page.getByRole("button", { name: "Release" }).click();
    expect(stand.asked).toEqual([]);
    page.once("dialog", (d) => void d.accept());
    await page.getByRole("button", { name: "Release" }).click();
    await page.getByText("1 reading accepted, 2 still withheld.").waitFor();
    await page.getByRole("combobox", { name: "Rule" }).selectOption("");
    page.once("dialog", (d) => void d.accept());
    await page.getByRole("button", { name: "Discard withheld" }).click();
    await page.getByRole("list", { name: "Withheld readings" }).waitFor({ state: "detached" });
    expect(stand.asked).toEqual(["release spike", "discard all"]);
    expect(complaints).toEqual([]);
  });

  test("shows what rules withhold from the parent, and releases it", async () => {
    const stand = new Destinations();
    stand.parents = [
      {
        ...{ sink: "parent", withheld: 4, kept: 3, sending: 0 },
        ...{ released: 1, discarded: 0, unkept: 0 },
      },
    ];
    const { page, complaints } = await destinations({ role: "engineer" }, stand);
    const parent = page.getByRole("region", { name: "To the parent" });
    await parent.getByText("Of 4 withheld readings: 3 wait for a person, 1 released.").waitFor();
    await parent.getByText("500 is not from -20 to 90").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    page.once("dialog", (d) => void d.accept());
    await parent.getByRole("button", { name: "Release" }).click();
    await parent
      .getByText("Of 4 withheld readings: 3 on the way to the parent, 1 released.")
      .waitFor();
    expect(stand.asked).toEqual(["release all parent"]);
    expect(complaints).toEqual([]);
  });

  test("lets a viewer see rules, and an operator what they withhold", async () => {
    const at = { address: "/destinations/search" };
    const viewer = await destinations({ role: "viewer", ...at });
    await viewer.page.getByText("2 withheld").waitFor();
    expect(await viewer.page.getByText("500 is not from").count()).toBe(0);
    const operator = await destinations({ role: "operator", ...at });
    await operator.page.getByText("500 is not from").waitFor();
    expect(await operator.page.getByRole("button", { name: /Release|Discard/ }).count()).toBe(0);
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

  test("adds a destination by the form of its kind, which says in one sentence what is wrong", async () => {
    const { page, stand, complaints } = await destinations();
    await page.getByRole("button", { name: "Add a destination" }).click();
    const form = page.getByRole("form", { name: "New destination" });
    await form.getByLabel("Kind").selectOption("Kafka");
    await form.getByLabel("Name", { exact: true }).fill("metrics");
    await form.getByLabel(/^Address/).fill("kafka://127.0.0.1:9092");
    await form.getByLabel(/^Topic/).fill("plant");
    await form.getByLabel(/^Password or token/).fill("secret");
    expect(await seriousViolations(page)).toEqual([]);
    stand.refuses = 'it does not accept the user "" or the password';
    await form.getByRole("button", { name: "Try and add" }).click();
    await form.getByText("it does not accept the user").waitFor();
    expect(stand.stored.size).toBe(0);
    stand.refuses = "";
    await form.getByRole("button", { name: "Try and add" }).press("Enter");
    await page.getByRole("region", { name: "metrics" }).waitFor();
    expect(stand.stored.get("metrics")).toEqual({
      settings: { kind: "kafka", url: "kafka://127.0.0.1:9092", into: "plant" },
      ...{ password: "secret", anew: false, untried: false },
    });
    expect(complaints.filter((c) => !/502/.test(c))).toEqual([]);
  });

  test("asks whether one that was here before goes on where it was", async () => {
    const { page, stand } = await destinations();
    stand.remembered.add("old");
    await page.getByRole("button", { name: "Add a destination" }).click();
    const form = page.getByRole("form", { name: "New destination" });
    await form.getByLabel("Name", { exact: true }).fill("old");
    await form.getByLabel(/^Address/).fill("https://127.0.0.1:9200");
    await form.getByRole("button", { name: "Try and add" }).click();
    await form.getByLabel(/A destination of this name was here before/).check();
    await form.getByRole("button", { name: "Try and add" }).click();
    await page.getByRole("region", { name: "old" }).waitFor();
    expect(stand.stored.get("old")).toMatchObject({ anew: true });
  });

  test("changes one without showing its password, and removes it", async () => {
    const { page, stand } = await destinations({ address: "/destinations/stream" });
    await page.getByRole("button", { name: "Change" }).click();
    const form = page.getByRole("form", { name: "Change stream" });
    await form.getByText("Kept here; leave it empty to keep it.").first().waitFor();
    expect(await form.getByLabel(/^Password or token/).inputValue()).toBe("");
    await form.getByLabel(/^Topic/).fill("other");
    await form.getByRole("button", { name: "Try and save" }).click();
    await form.waitFor({ state: "detached" });
    expect(stand.stored.get("stream")).toEqual({
      settings: {
        ...{ kind: "kafka", url: "kafkas://kafka-1.example:9093", into: "other" },
        tags: { building: "{1}" },
      },
      ...{ anew: false, untried: false },
    });
    await page.getByRole("button", { name: "Remove" }).click();
    const ask = page.getByRole("dialog", { name: "Remove stream?" });
    await ask.getByLabel(/Forget its position/).check();
    expect(await seriousViolations(page)).toEqual([]);
    await ask.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("region", { name: "search" }).waitFor();
    expect(stand.asked).toEqual(["remove stream forget"]);
  });

  test("has its account in the ledger", async () => {
    const { page, complaints } = await destinations({ address: "/ledger" });
    const table = page.getByRole("region", { name: "Account of each destination" });
    await table
      .getByRole("row", { name: /stream/ })
      .getByText("✓ balanced")
      .waitFor();
    await table
      .getByRole("row", { name: /warehouse/ })
      .getByText("balanced, with loss")
      .waitFor();
    await table
      .getByRole("row", { name: /search/ })
      .getByText("10,252")
      .waitFor();
    await table.getByRole("columnheader", { name: "Withheld" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
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
    await page.getByRole("button", { name: "Add a destination" }).click();
    await page.getByText("More settings").click();
    expect(await sidewaysScroll(page)).toBe(0);
    const heights = await page
      .locator("form.destination-form :is(button, input, select):visible")
      .evaluateAll((all) => all.map((e) => e.getBoundingClientRect().height));
    expect(Math.min(...heights)).toBeGreaterThanOrEqual(44);
    await page.getByRole("link", { name: "warehouse" }).click();
    await page.getByText("the column value takes numbers only").first().waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(complaints).toEqual([]);
  });
});
