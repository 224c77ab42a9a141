// Schedules of a running node, a demonstration of its own, from an empty page to a point that is held.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";
import { startDemo } from "./demo";
import { phone } from "./harness";

const { url, token } = await startDemo();
const point = "demo/office/zone1/setpoint";
const shots = process.env.VOLTBUS_SHOTS;

describe.skipIf(url === "")("schedules of a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  async function enter(page: Page, path: string) {
    await page.goto(`${url}${path}#token=${encodeURIComponent(token)}`);
    await page.getByRole("main").waitFor();
  }

  test("are made with a calendar, command a point, and are held until the next change", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, "/schedules");
    await page.getByText("New calendar…").click();
    const dates = page.getByRole("form", { name: "New calendar" });
    await dates.getByLabel("Name of the calendar").fill("holidays");
    await dates.getByLabel("When").selectOption("easter");
    await dates.getByRole("spinbutton", { name: "Days after Easter" }).fill("1");
    await dates.getByLabel("Name", { exact: true }).fill("Easter Monday");
    await dates.getByRole("button", { name: "Make the calendar" }).click();
    await page.getByText(/next \d{4}-\d\d-\d\d Easter Monday/).waitFor();

    await page.getByText("New schedule…").click();
    const form = page.getByRole("form", { name: "New schedule" });
    await form.getByLabel("Name", { exact: true }).fill("office");
    await form.getByLabel("Time zone").fill("Mars/Olympus");
    await form.getByLabel("Points, one in a line").fill(point);
    await form.getByRole("button", { name: "Preview" }).click();
    await form
      .getByRole("alert")
      .getByText(/write one such as Europe\/Berlin/)
      .waitFor();
    await form.getByLabel("Time zone").fill("Europe/Berlin");
    await form.getByLabel("A day begins with").fill("22.5");
    await form.getByRole("button", { name: "Monday: add a time" }).click();
    await form.getByLabel("Monday: time 1").fill("06:30");
    await form.getByLabel("Monday: value 1").fill("23.5");
    await form.getByRole("button", { name: "Copy to Tuesday to Friday" }).click();
    await form.getByRole("button", { name: "Add an exception" }).click();
    await form.getByLabel("When").selectOption("calendar");
    await form.getByRole("button", { name: "Preview" }).click();
    const preview = form.getByRole("status", { name: "What it would command" });
    await preview
      .getByText(/06:30: 23\.5/)
      .first()
      .waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/schedule-form.png`, fullPage: true });
    await form.getByRole("button", { name: "Make the schedule" }).click();

    const office = page.getByRole("region", { name: "office" });
    await office.getByText(/^Now (22\.5|23\.5)/).waitFor();
    await office.getByLabel("Hold at").fill("21");
    await office.getByRole("button", { name: "until the next change" }).click();
    await office.getByText(/^1 point held until/).waitFor();
    if (shots) await page.screenshot({ path: `${shots}/schedules-wide.png`, fullPage: true });

    await enter(page, `/point/${point}`);
    await page.getByRole("row", { name: /15 .*(22\.5|23\.5) °C/ }).waitFor();
    await page.getByRole("row", { name: /8 Manual operator 21 °C/ }).waitFor();
    expect(complaints.filter((c) => !c.includes("400"))).toEqual([]);
  });

  test("are read on a phone, and deleted", async () => {
    const { page, complaints } = await openPage(browser, phone);
    await enter(page, "/schedules");
    const office = page.getByRole("region", { name: "office" });
    await office.getByText(/^Now/).waitFor();
    await office.getByText("The next seven days").waitFor();
    if (shots) await page.screenshot({ path: `${shots}/schedules-phone.png`, fullPage: true });
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByLabel("Change or delete the calendar holidays").click();
    await page.getByRole("button", { name: "Delete the calendar holidays" }).click();
    await page.getByText(/the schedule office uses it; take it out there first/).waitFor();
    await page.getByLabel("Change or delete office").click();
    await page.getByRole("button", { name: /^Delete the schedule office/ }).click();
    await office.waitFor({ state: "detached" });
    expect(complaints.filter((c) => !c.includes("409"))).toEqual([]);
  });
});
