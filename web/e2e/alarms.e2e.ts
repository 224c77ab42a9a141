import { describe, expect, test } from "vitest";
import type { Alarm } from "../src/generated/api";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import type { Stand } from "./stand";
import { AlarmStand, changed, onPoint, some } from "./stand-alarms";

const open = useBrowser();
const shots = process.env.VOLTBUS_SHOTS;
const wide = { viewport: { width: 1400, height: 900 } };

async function alarms(list: Alarm[] = some(), more: object = {}) {
  const stand = new AlarmStand(list);
  const opened = await open({
    site: building,
    address: "/alarms",
    handlers: stand.handlers,
    ...more,
  });
  return { stand, ...opened };
}

describe("alarms", () => {
  test("are listed with value and limit, and counted in the navigation", async () => {
    const began = (node: Stand) => {
      Object.assign(node.counts, { alarms: 3, alarms_high: 1, commands_failed: 1 });
    };
    const { page, complaints } = await alarms(some(), { browser: wide, began });
    await page.getByText("The supply air is too hot").waitFor();
    await page
      .getByText(/now 84\.5 °C, opened at 81\.2 °C, alarm when it is above 80/)
      .first()
      .waitFor();
    await page.getByRole("link", { name: "Alarms 3 open alarms" }).waitFor();
    await page.getByRole("link", { name: "Control 1 command to look at" }).waitFor();
    if (shots) await page.screenshot({ path: `${shots}/alarms-wide.png`, fullPage: true });
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("are acknowledged with a note by an operator on a phone", async () => {
    const { page, stand, complaints } = await alarms(some(), { role: "operator", browser: phone });
    const name = "campus/b1/ahu1/supply_temp";
    await page.getByText("The supply air is too hot").waitFor();
    if (shots) await page.screenshot({ path: `${shots}/alarms-phone.png`, fullPage: true });
    await page.getByLabel(`Note, shelve and service of ${name}`).click();
    await page.getByLabel("Note", { exact: true }).first().fill("on my way");
    await page.getByRole("button", { name: `Acknowledge ${name}` }).click();
    await expect.poll(() => stand.acts).toEqual([`acknowledge supply-high@${name} on my way`]);
    await page.getByRole("button", { name: `Acknowledge ${name}` }).waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Take out of service" }).count()).toBe(0);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("of other nodes are acknowledged there, and are not known while a node is cut off", async () => {
    const there = onPoint("supply-high", "b/p", { node: "plant" });
    const { page, stand, complaints } = await alarms([there], { browser: phone });
    stand.nodes = [
      { node: "depot", known: false, at: null, open: 0, all: 0, reason: "it is cut off" },
    ];
    await page.getByText("The alarms of depot are not known since this node started").waitFor();
    await page.getByRole("button", { name: "Acknowledge b/p" }).click();
    await expect.poll(() => stand.acts).toEqual(["acknowledge supply-high@b/p at plant"]);
    stand.list = [];
    await page.getByText("No open alarms that are known").waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("have a history and rates", async () => {
    const { page, stand, complaints } = await alarms(some(), { browser: phone });
    stand.changes = [changed(2, "acknowledged", "ada"), changed(1, "opened")];
    await page.getByText("History").click();
    await page.getByText(/Acknowledged.*by ada/).waitFor();
    await page.getByText("Rates of the last seven days").click();
    await page.getByText("24 alarms: 0.1 an hour, at most 11 in ten minutes").waitFor();
    await page.getByRole("heading", { name: "Chattering" }).waitFor();
    if (shots) await page.screenshot({ path: `${shots}/alarms-past.png`, fullPage: true });
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("say who was first, if two acknowledge at once", async () => {
    const { page, stand } = await alarms();
    stand.first = "ben";
    await page.getByRole("button", { name: "Acknowledge campus/b1/ahu1/supply_temp" }).click();
    await page.getByRole("alert").getByText("ben acknowledged it").waitFor();
  });

  test("are shelved for a time", async () => {
    const { page, stand } = await alarms();
    const name = "campus/b1/ahu1/supply_temp";
    await page.getByLabel(`Note, shelve and service of ${name}`).click();
    await page.getByRole("button", { name: `Shelve 8 hours: ${name}` }).click();
    await expect.poll(() => stand.acts).toEqual([`shelve supply-high@${name}`]);
    await page.getByRole("heading", { name: "2 shelved, suppressed or out of service" }).waitFor();
  });

  test("are only read by a viewer", async () => {
    const { page } = await alarms(some(), { role: "viewer" });
    await page.getByText("The supply air is too hot").waitFor();
    expect(await page.getByRole("button", { name: /^Acknowledge/ }).count()).toBe(0);
  });

  test("are grouped by rule in a flood", async () => {
    const list = Array.from({ length: 40 }, (_, i) => onPoint("zone-high", `zone${i}/temp`));
    const stand = new AlarmStand(list);
    stand.flood = new Date(Date.now() - 60_000).toISOString();
    const { page } = await open({ site: building, address: "/alarms", handlers: stand.handlers });
    await page.getByText("zone-high: 40 alarms").waitFor();
    expect(await page.getByText("zone7/temp is above 80").count()).toBe(0);
    await page.getByText("zone-high: 40 alarms").click();
    await page.getByText("zone7/temp is above 80").waitFor();
  });

  test("of a flood are drawn few at a time", async () => {
    const list = Array.from({ length: 500 }, (_, i) => onPoint("zone-high", `zone${i}/temp`));
    const { page, stand } = await alarms(list);
    const drawn = page.locator(".alarms > li");
    await page.getByText("500 open alarms").waitFor();
    expect(await drawn.count()).toBe(50);
    await page.getByRole("button", { name: "Show 50 more of 450" }).click();
    expect(await drawn.count()).toBe(100);
    stand.flood = new Date().toISOString();
    await page.getByText("zone-high: 500 alarms").click();
    await expect.poll(() => drawn.count()).toBe(50);
  });

  test("show markup as text", async () => {
    const list = attacks.map((a) =>
      onPoint("r", a, { text: a, description: a, unit: a, value: a, now: a, note: a, limit: a }),
    );
    const { page, complaints } = await alarms(list, { browser: phone });
    await expect
      .poll(() => page.getByRole("button", { name: /^Acknowledge/ }).count())
      .toBe(list.length);
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("that are not there leave no mark", async () => {
    const { page } = await alarms([]);
    await page.getByRole("heading", { name: "No open alarms" }).waitFor();
    await page.getByRole("link", { name: "Alarms", exact: true }).waitFor();
  });
});

describe("a rule", () => {
  test("is tried and made on the page of a point", async () => {
    const stand = new AlarmStand([]);
    const { page } = await open({
      site: building,
      address: "/point/campus/b1/ahu1/supply_temp",
      handlers: stand.handlers,
      browser: wide,
    });
    await page.getByLabel(/^Limit/).fill("80");
    await page.getByLabel("After, seconds", { exact: true }).fill("60");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("In alarm now: campus/b1/ahu1/supply_temp.").waitFor();
    if (shots) await page.screenshot({ path: `${shots}/alarm-rule-wide.png`, fullPage: true });
    await page.getByRole("button", { name: "Make the rule" }).click();
    await page.getByText("campus-b1-ahu1-supply_temp-high", { exact: true }).waitFor();
    expect(stand.rules).toEqual([
      {
        name: "campus-b1-ahu1-supply_temp-high",
        points: ["campus/b1/ahu1/supply_temp"],
        check: "high",
        priority: "medium",
        limit: 80,
        on_delay: 60,
      },
    ]);
    expect(await seriousViolations(page)).toEqual([]);
  });
});
