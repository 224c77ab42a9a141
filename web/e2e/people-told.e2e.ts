// Who is told of alarms: the form of the plan, tests of contacts, and pushes to the browser.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { building } from "./sites";
import { AlarmStand } from "./stand-alarms";

const open = useBrowser();
const shots = process.env.VOLTBUS_SHOTS;

async function told(more: object = {}) {
  const stand = new AlarmStand([]);
  const opened = await open({
    site: building,
    address: "/alarms",
    handlers: stand.handlers,
    browser: { ...phone, serviceWorkers: "allow" },
    ...more,
  });
  return { stand, ...opened };
}

const key =
  "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4";

describe("who is told of alarms", () => {
  test("is written in a form, and a contact is sent a test", async () => {
    const { page, stand, complaints } = await told();
    await page.getByText("Nobody is told of alarms").waitFor();
    await page.getByText("Change who is told…").click();
    const form = page.getByRole("form", { name: "Who is told of alarms" });
    await form.getByRole("button", { name: "Add a contact" }).click();
    await form.getByLabel("Name", { exact: true }).fill("ada");
    await form.getByLabel("Told by").selectOption("mqtt");
    await form.getByText("ada: write topic.").waitFor();
    expect(await form.getByRole("button", { name: "Use this plan" }).isEnabled()).toBe(false);
    await form.getByLabel("Topic").fill("plant/alarms");
    await form.getByRole("button", { name: "Add a turn" }).click();
    await form.getByLabel("From", { exact: true }).fill("2026-03-02T08:00");
    await form.getByLabel("To", { exact: true }).fill("2026-03-09T08:00");
    await form.getByRole("button", { name: "Add a step" }).click();
    await form.getByLabel("After, minutes").last().fill("20");
    await form.getByRole("checkbox", { name: "ada" }).last().check();
    if (shots) await page.screenshot({ path: `${shots}/told-form.png`, fullPage: true });
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Use this plan" }).click();
    await page.getByText("On call now: ada").waitFor();
    expect(JSON.parse(stand.plan.text)).toMatchObject({
      contacts: [{ name: "ada", by: "mqtt", to: "plant/alarms" }],
      steps: [
        { after: 0, tell: ["on-call"] },
        { after: 1200, tell: ["ada"] },
      ],
      calendar: [{ who: "ada" }],
    });
    await page.getByRole("button", { name: "Send a test to ada" }).click();
    await page.getByText("The test was sent. Ask ada whether it arrived.").waitFor();
    stand.unheard = "the broker is away";
    await page.getByRole("button", { name: "Send a test to ada" }).click();
    await page.getByText("the broker is away").waitFor();
    expect(stand.acts).toEqual(["test ada"]);
    expect(complaints.filter((c) => !/status of (404|503)/.test(c))).toEqual([]);
  });

  test("is not changed by an operator, and troubles are said", async () => {
    const { page, stand } = await told({ role: "operator" });
    stand.people = { ...stand.people, troubles: ["ben cannot be told of alarms"] };
    await page.reload();
    await page.getByText("ben cannot be told of alarms").waitFor();
    expect(await page.getByText("Change who is told…").count()).toBe(0);
    expect(await page.getByText("Pushes to your browsers").count()).toBe(0);
  });
});

/** A page whose browser is changed before it begins. */
async function pushed(change: () => void) {
  const opened = await told();
  opened.stand.people = { ...opened.stand.people, push_key: key };
  await opened.page.addInitScript(change);
  await opened.page.reload();
  return opened;
}

const status = (page: Page) =>
  page.getByRole("region", { name: "Pushes to your browsers" }).getByRole("status");

describe("pushes to this browser", () => {
  test("are not there in a browser without them, which is said", async () => {
    const { page } = await pushed(() => {
      Reflect.deleteProperty(window, "PushManager");
    });
    await expect.poll(() => status(page).textContent()).toContain("cannot show pushes");
  });

  test("are blocked in a browser that was told so, which is said", async () => {
    const { page } = await pushed(() => {
      Object.defineProperty(Notification, "permission", { get: () => "denied" });
    });
    await expect.poll(() => status(page).textContent()).toContain("blocks notifications");
  });

  test("begin when somebody wants them, with the keys of the browser", async () => {
    const { page, stand, complaints } = await pushed(() => {
      Object.defineProperty(Notification, "permission", { get: () => "granted" });
      Notification.requestPermission = async () => "granted";
      // There is no push service here: the browser would ask its maker's
      PushManager.prototype.getSubscription = async () => null;
      PushManager.prototype.subscribe = async (options) => {
        const bytes = (options?.applicationServerKey as Uint8Array | undefined)?.length;
        const getKey = (name: string) => new Uint8Array(name === "auth" ? 16 : 65).buffer;
        const endpoint = `https://push.example.org/${bytes}`;
        return { endpoint, getKey } as unknown as PushSubscription;
      };
    });
    await page
      .getByText("The plan has no contact that is told by pushes to your account")
      .waitFor();
    if (shots) await page.screenshot({ path: `${shots}/told-push.png`, fullPage: true });
    await page.getByRole("button", { name: "Push alarms to this browser" }).click();
    await expect
      .poll(() => stand.acts)
      .toEqual([
        expect.stringMatching(/^browser Chrome on \w+ https:\/\/push.example.org\/65 87 22$/),
      ]);
    expect(complaints).toEqual([]);
  });
});
