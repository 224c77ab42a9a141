// Weekly reports of a running node, a demonstration of its own, from the form to the letter that a mail server of others takes.

import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";
import { startDemo } from "./demo";
import { phone } from "./harness";
import { startMailServer } from "./mail-server";

const { url, token, dir } = await startDemo();
const mail = dir ? await startMailServer() : undefined;
const point = "demo/office/zone1/setpoint";
const shots = process.env.VOLTBUS_SHOTS;

describe.skipIf(!mail)("weekly reports of a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
    const secrets = join(dir, "data/alarm-secrets");
    await mkdir(secrets, { recursive: true, mode: 0o700 });
    await writeFile(join(secrets, "ca.pem"), mail?.ca ?? "", { mode: 0o600 });
    await writeFile(join(secrets, "mail"), mail?.password ?? "", { mode: 0o600 });
    const contact = {
      ...{ name: "ada", by: "email", to: "ada@example.org", from: "plant@example.org" },
      ...{ server: mail?.address, user: mail?.user, secret: "mail", ca: "ca.pem" },
    };
    await tell([contact]);
    await send("PUT", "views", { name: "Night & day", link: `/explore?point=${point}` });
  });
  afterAll(() => browser.close());

  async function send(method: string, path: string, body: unknown) {
    const headers = { Authorization: `Bearer ${token}`, "Content-Type": "application/json" };
    const answer = await fetch(`${url}/api/v1/${path}`, {
      ...{ method, headers, body: JSON.stringify(body) },
    });
    expect(answer.status, await answer.text()).toBeLessThan(300);
  }

  const tell = (contacts: object[]) =>
    send("PUT", "documents/text?owner=shared&name=escalation", {
      type: "json",
      text: JSON.stringify({ contacts, steps: [] }),
    });

  async function enter(page: Page, path: string) {
    await page.goto(`${url}${path}#token=${encodeURIComponent(token)}`);
    await page.getByRole("main").waitFor();
  }

  test("are made in a form, previewed, and sent when somebody asks", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, "/reports");
    await page.getByText(/A weekly report is a PDF/).waitFor();
    await page.getByRole("button", { name: "New report…" }).click();
    const form = page.getByRole("form", { name: "New report" });
    const make = form.getByRole("button", { name: "Make the report" });
    await form.getByText("Name: write letters").waitFor();
    expect(await make.isEnabled()).toBe(false);
    await form.getByLabel("Name", { exact: true }).fill("plant");
    await form.getByLabel("Title").fill("Zone <1>");
    await form.getByLabel("Find points").fill("zone1 setpoint");
    await form.getByRole("button", { name: `Add ${point}` }).click();
    await form.getByRole("checkbox", { name: "ada" }).check();
    await form.getByLabel("Sent on").selectOption("friday");
    await form.getByLabel(/^at, time in/).fill("15:30");
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/report-form.png`, fullPage: true });
    const [preview] = await Promise.all([
      page.waitForEvent("download"),
      form.getByRole("link", { name: "Download a preview" }).click(),
    ]);
    expect((await readFile(await preview.path())).toString("latin1", 0, 5)).toBe("%PDF-");
    await make.click();

    const plant = page.getByRole("region", { name: "Zone <1>" });
    await plant.getByText(/Next sent to ada on Fri.*15:30/).waitFor();
    await plant.getByText("None was sent yet.").waitFor();
    const letter = mail?.letter();
    await plant.getByRole("button", { name: "Send now…" }).click();
    await plant.getByRole("button", { name: "Send it to 1 contact" }).click();
    expect((await letter)?.to).toEqual(["ada@example.org"]);
    expect((await letter)?.content).toContain("application/pdf");
    await plant.getByText(/Last sent .*: ada \(admin asked for it\)/).waitFor();
    if (shots) await page.screenshot({ path: `${shots}/reports-wide.png`, fullPage: true });
    await plant.getByRole("link", { name: "History of sending" }).click();
    await page.getByText("reports-sent/plant").first().waitFor();
    expect(complaints).toEqual([]);
  });

  test("answer what is wrong", async () => {
    const { page, complaints } = await openPage(browser);
    await enter(page, "/reports");
    await page.getByRole("button", { name: "New report…" }).click();
    const form = page.getByRole("form", { name: "New report" });
    await form.getByLabel("Name", { exact: true }).fill("plant");
    await form.getByText("Name: it is taken").waitFor();
    await form.getByLabel("Name", { exact: true }).fill("second");
    await form.getByLabel("Title").fill("Another one");
    await form.getByLabel("Points, one in a line").fill("a/../b");
    await form.getByRole("button", { name: "Make the report" }).click();
    await form
      .getByRole("alert")
      .getByText(/must not have the segment/)
      .waitFor();
    await form.getByLabel("Points, one in a line").fill(point);
    // Somebody else was faster
    await send("PUT", "reports", { name: "second", title: "Of others", points: [point] });
    await form.getByRole("button", { name: "Make the report" }).click();
    await form
      .getByRole("alert")
      .getByText(/somebody else changed it/)
      .waitFor();
    await page.getByRole("region", { name: "Zone <1>" }).waitFor();
    expect(complaints.filter((c) => !/400|409/.test(c))).toEqual([]);
  });

  test("are changed to a saved view on a phone, told when nobody can be reached, and deleted", async () => {
    const { page, complaints } = await openPage(browser, phone);
    await enter(page, "/reports");
    await page.getByLabel("Change or delete plant").click();
    const form = page.getByRole("form", { name: "Change the report plant" });
    await form.getByLabel("About").selectOption("Night & day");
    await form.getByText(/points that the view shows/).waitFor();
    if (shots) await page.screenshot({ path: `${shots}/reports-phone.png`, fullPage: true });
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Change the report" }).click();
    const plant = page.getByRole("region", { name: "Zone <1>" });
    await plant.getByText(/view Night & day/).waitFor();
    const ben = { name: "ben", by: "email", to: "b@example.org", from: "p@example.org" };
    await tell([{ ...ben, server: mail?.address }]);
    await plant.getByRole("button", { name: "Send now…" }).click();
    await plant.getByRole("button", { name: "Send it to 1 contact" }).click();
    await plant
      .getByText(/Not everybody has it; it is tried again: .*"ada" is no contact/)
      .waitFor();
    await page.getByLabel("Change or delete plant").click();
    await form.getByText("has no e-mail address any more").waitFor();
    await page.getByRole("button", { name: "Delete the report plant" }).click();
    await plant.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });
});
