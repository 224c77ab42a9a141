import { describe, expect, test } from "vitest";
import type { Alert } from "../src/generated/api";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { Alarms, some } from "./stand-alerts";

const open = useBrowser();

async function alerts(list: Alert[] = some(), more: object = {}) {
  const alarms = new Alarms(list);
  const address = "/alerts";
  const opened = await open({ site: building, address, handlers: alarms.handlers, ...more });
  return { alarms, ...opened };
}

describe("alerts", () => {
  test("are listed", async () => {
    const { page, complaints } = await alerts();
    await page.getByText("Supply temperature 96.5 °C is above 95 °C").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("are cleared by an operator", async () => {
    const { page, alarms } = await alerts(some(), { role: "operator" });
    await page.getByRole("button", { name: "Clear supply/high of boiler-watch" }).click();
    await expect.poll(() => page.getByRole("button", { name: /^Clear/ }).count()).toBe(2);
    expect(alarms.list.map((a) => a.key)).not.toContain("supply/high");
  });

  test("of devices are acknowledged by an operator", async () => {
    const first = some()[0] as Alert;
    const alarm = { ...first, agent: "node", key: "campus/ahu1 analog-input:2" };
    const { page, complaints } = await alerts([{ ...alarm, unacknowledged: true }], {
      role: "operator",
      browser: phone,
    });
    const button = page.getByRole("button", { name: "Acknowledge campus/ahu1 analog-input:2" });
    await button.waitFor();
    const shots = process.env.VOLTBUS_SHOTS;
    if (shots) await page.screenshot({ path: `${shots}/alert-phone.png` });
    await button.click();
    await button.waitFor({ state: "detached" });
    await page.getByRole("button", { name: /^Clear/ }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("say why one cannot be cleared", async () => {
    const { page, alarms } = await alerts();
    alarms.refuses = true;
    await page.getByRole("button", { name: "Clear supply/high of boiler-watch" }).click();
    await page.getByRole("alert").getByText("It is not open any more").waitFor();
  });

  test("are only read by a viewer, also on a phone", async () => {
    const { page } = await alerts(some(), { role: "viewer", browser: phone });
    await page.getByText("Supply temperature 96.5 °C is above 95 °C").waitFor();
    expect(await page.getByRole("button", { name: /^Clear/ }).count()).toBe(0);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("show markup as text", async () => {
    const first = some()[0] as Alert;
    const list = attacks.map((a) => ({
      ...first,
      agent: a,
      key: a,
      text: a,
      severity: a as never,
    }));
    const { page, complaints } = await alerts(list, { browser: phone });
    await expect.poll(() => page.getByRole("button", { name: /^Clear/ }).count()).toBe(list.length);
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("that are not there", async () => {
    const { page } = await alerts([]);
    await page.getByRole("heading", { name: "No open alerts" }).waitFor();
  });
});
