import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { Meters } from "./stand-metering";

const open = useBrowser();

async function meters(address = "/metering?day=2026-03-01", more: object = {}) {
  const system = new Meters();
  const opened = await open({ site: building, address, handlers: system.handlers, ...more });
  return { system, ...opened };
}

describe("metering", () => {
  test("shows how complete a day is, and what is missing of it", async () => {
    const { page, complaints } = await meters();
    await page.getByText("Missing intervals").waitFor();
    const row = page.getByRole("row").filter({ hasText: "1EMH0002" });
    await row.getByRole("cell", { name: "00:45 to 01:15" }).waitFor();
    await page.getByRole("link", { name: "Meters" }).first().waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("validates a day for an engineer, and takes an exception from the queue", async () => {
    const { page, system } = await meters(undefined, { role: "engineer" });
    await page.getByRole("button", { name: "Validate now" }).click();
    await page.getByText("2 channels: 189 validated, 1 doubted, 2 estimated.").waitFor();
    await page.getByRole("button", { name: "Settle exception 7" }).click();
    await page.getByLabel("What was found, or done").fill("the meter was exchanged");
    await page.getByRole("button", { name: "Settle it" }).click();
    await page.getByText("Nothing waits for a person").waitFor();
    expect(system.settled).toEqual([[7, "the meter was exchanged"]]);
  });

  test("lets a viewer look only", async () => {
    const { page } = await meters(undefined, { role: "viewer" });
    await page.getByText("Missing intervals").waitFor();
    expect(await page.getByRole("button", { name: /Validate|Settle/ }).count()).toBe(0);
  });

  test("shows a meter's curve, and all versions of an interval; an engineer sets a value", async () => {
    const { page, system, complaints } = await meters(
      "/metering/1EMH0001?channel=1&day=2026-03-01",
    );
    await page.getByRole("list", { name: "Readings by state" }).getByText("2 estimated").waitFor();
    await page.getByRole("img", { name: /96 readings/ }).press("ArrowRight");
    const versions = page.getByRole("region", { name: "Versions" });
    await versions.getByText("raw").waitFor();
    await versions.getByRole("row", { name: /validated billed/ }).waitFor();
    await versions.getByLabel(/^Value/).fill("0.75");
    await versions.getByLabel("Reason").fill("read on site");
    await versions.getByRole("button", { name: "Set the value" }).click();
    await versions.getByText("read on site").waitFor();
    expect(system.edits).toHaveLength(1);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("shows each hour of a day, and how late readings came", async () => {
    const { page } = await meters();
    await page.getByRole("img", { name: /validated: 186.*estimated: 2.*missing: 3/ }).waitFor();
    const rates = page.getByRole("region", { name: "Read rate" });
    await rates.getByRole("row", { name: /^1 d.*97\.4 %/ }).waitFor();
  });

  test("calculates a bill, and compares it with what was known then", async () => {
    const { page, complaints } = await meters("/metering/1EMH0001?channel=1&day=2026-03-01");
    const bill = page.getByRole("region", { name: "Billing determinants" });
    await bill.getByLabel("From").fill("2026-03-01");
    await bill.getByLabel("To, not included").fill("2026-04-01");
    await bill.getByLabel("Tariff").fill("households");
    await bill.getByLabel("Demand over").selectOption("15");
    await bill.getByLabel("Compare with").fill("2026-04-03T08:00");
    await bill.getByRole("button", { name: "Calculate" }).click();
    await bill.getByText(/3 figures differ from what was known at/).waitFor();
    await bill.getByRole("row", { name: /peak Consumption kWh 210.5 209.25 -1.25/ }).waitFor();
    await bill.getByRole("row", { name: /Estimated intervals 4 0 -4/ }).waitFor();
    await bill.getByRole("row", { name: /1EMH0001 channel 2.*329.25 kWh interpolated/ }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.reload();
    await page.getByText(/3 figures differ from what was known at/).waitFor();
    expect(complaints).toEqual([]);
  });

  test("says why a bill cannot be calculated, and keeps the form on a phone", async () => {
    const { page } = await meters("/metering/1EMH0001?channel=1&day=2026-03-01", {
      browser: phone,
    });
    const bill = page.getByRole("region", { name: "Billing determinants" });
    await bill.getByLabel("Tariff").fill("nobody");
    await bill.getByRole("button", { name: "Calculate" }).click();
    await bill.getByRole("alert").getByText("there is no such tariff").waitFor();
    await bill.getByLabel("Tariff").fill("");
    await bill.getByRole("button", { name: "Calculate" }).click();
    await bill.getByRole("row", { name: /all.*Consumption.*kWh.*329.25/ }).waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
  });

  test("lists what meters reported", async () => {
    const { page } = await meters();
    const events = page.getByRole("region", { name: "Events", exact: true });
    await events.getByRole("row", { name: /1EMH0002 last gasp 3.26.0.85 critical/ }).waitFor();
    await events.getByRole("link", { name: "1EMH0001" }).click();
    await page.getByRole("row", { name: /clock set information by 3 s/ }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("gives the readings as a Green Button file", async () => {
    const { page } = await meters("/metering/1EMH0001?channel=1&day=2026-03-01");
    const link = page.getByRole("link", { name: "Download Green Button" });
    const address = new URL((await link.getAttribute("href")) ?? "", page.url());
    expect(address.pathname).toBe("/api/v1/metering/greenbutton");
    expect(address.searchParams.get("meter")).toBe("1EMH0001");
    const hours = ["to", "from"].map((k) => Date.parse(address.searchParams.get(k) ?? ""));
    expect(((hours[0] ?? 0) - (hours[1] ?? 0)) / 3_600_000).toBe(24);
  });

  test("compares with what was known then", async () => {
    const { page } = await meters("/metering/1EMH0001?channel=1&day=2026-03-01");
    await page.getByText("Compare with what was known").click();
    await page.getByLabel("As known at").fill("2026-03-02T12:00");
    await page.getByRole("button", { name: "Compare" }).click();
    await page.getByText("2 intervals differ from what was known").waitFor();
  });

  test("says why a value cannot be set", async () => {
    const { page, system } = await meters("/metering/1EMH0001?channel=1&day=2026-03-01");
    system.refuses = true;
    await page.getByRole("img", { name: /96 readings/ }).press("ArrowRight");
    await page.getByLabel(/^Value/).fill("1");
    await page.getByLabel("Reason").fill("x");
    await page.getByRole("button", { name: "Set the value" }).click();
    await page.getByRole("alert").getByText("no reading is expected at this end").waitFor();
  });

  test("shows a concentrator with its systems and what they refused", async () => {
    const system = new Meters();
    const handlers = { ...system.handlers, ...system.concentrator };
    const { page } = await open({ site: building, address: "/metering", handlers, browser: phone });
    await page.getByText("https://mds-b.example/").first().waitFor();
    await page.getByText(/failing for .*it does not answer/).waitFor();
    await page.getByText("no meter is registered").waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("is usable on a phone, and shows markup as text", async () => {
    const { page, system, complaints } = await meters(undefined, {
      browser: phone,
      began: () => undefined,
    });
    system.name = attacks[0] ?? "";
    await page.reload();
    await page.getByText("Missing intervals").waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("is left out of the navigation of a node without meters", async () => {
    const { page } = await open({ site: building, address: "/metering" });
    await page.getByText("This node collects no readings of meters").waitFor();
    expect(await page.getByRole("link", { name: "Meters" }).count()).toBe(0);
  });
});
