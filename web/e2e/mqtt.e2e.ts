import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { Broker, strangers } from "./stand-mqtt";

const open = useBrowser();

async function broker(more: object = {}, topics = strangers()) {
  const stand = new Broker(topics);
  const opened = await open({
    site: building,
    address: "/mqtt",
    handlers: stand.handlers,
    ...more,
  });
  return { broker: stand, ...opened };
}

describe("mqtt", () => {
  test("adds the proposed template of an unknown device with one press", async () => {
    const { page, broker: stand, complaints } = await broker({ role: "engineer" });
    const list = page.getByRole("list", { name: "Messages without a template" });
    await list.getByText("48 messages").waitFor();
    await list.getByText('"co2": 612').waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Add template of air/lobby/state" }).click();
    await page.getByText("Messages of air/lobby/state become points from now on.").waitFor();
    await list.getByText("48 messages").waitFor({ state: "detached" });
    expect(stand.added).toEqual([strangers()[0]?.proposal]);
    expect(complaints).toEqual([]);
  });

  test("adds a template as an engineer changed it, and shows what is wrong with it", async () => {
    const { page, broker: stand } = await broker({ role: "engineer" });
    stand.refuses = "mqtt.templates[1].device: is missing";
    const box = page.getByLabel("Proposed template");
    const changed = (await box.inputValue()).replace("mqtt/{device}", "building/{device}");
    await box.fill(changed);
    const add = page.getByRole("button", { name: "Add template of air/lobby/state" });
    await add.press("Enter");
    await page.getByRole("alert").getByText("device: is missing").waitFor();
    stand.refuses = "";
    await add.press("Enter");
    await page.getByText("become points from now on").waitFor();
    expect(stand.added).toEqual([changed]);
  });

  test("says why a payload is not taken, and when nothing can be proposed", async () => {
    const { page } = await broker();
    await page
      .getByText("The template “thermostat” does not take it: temperature: is not a number")
      .waitFor();
    await page.getByText("No template can be proposed for this payload.").waitFor();
    await page.getByText("Refused clients").waitFor();
  });

  for (const size of [undefined, phone]) {
    test(`shows what an application outside did${size ? " on a phone" : ""}`, async () => {
      const stand = new Broker([], true);
      const { page } = await open({
        ...{ site: building, address: "/mqtt", handlers: stand.handlers },
        ...(size ? { browser: size } : {}),
      });
      const list = page.getByRole("list", { name: "Applications outside" });
      await list.getByText("1 client connected").waitFor();
      await list
        .getByText("20 to 24, steps of 1.5, every 5 s, for 10 min, level 14")
        .first()
        .waitFor();
      await list.getByText("What it asked for").click();
      await list.getByText("30 refused: asks for 30, which is not from 20 to 24").waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      expect(await sidewaysScroll(page)).toBe(0);
    });
  }

  test("says calmly that a node has no broker, and how it gets one", async () => {
    const handlers = { "GET mqtt": () => ({ broker: false }) };
    const { page, complaints } = await open({ site: building, address: "/mqtt", handlers });
    await page.getByRole("heading", { name: "This node has no MQTT broker" }).waitFor();
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("lets a viewer look only", async () => {
    const { page } = await broker({ role: "viewer" });
    await page.getByText("48 messages").waitFor();
    expect(await page.getByRole("button", { name: /Add template/ }).count()).toBe(0);
  });

  test("fits on a phone, and shows hostile text as text", async () => {
    const hostile = strangers().map((u) => ({ ...u, topic: `${u.topic}/${attacks[0]}` }));
    const { page, complaints } = await broker({ browser: phone }, hostile);
    await page.getByText("48 messages").waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("is in the navigation of a node with a broker only", async () => {
    const { page } = await broker();
    await page.getByRole("link", { name: "MQTT" }).first().waitFor();
    const other = await open({
      site: building,
      address: "/",
      handlers: {},
    });
    await other.page.getByRole("link", { name: "Ledger" }).first().waitFor();
    expect(await other.page.getByRole("link", { name: "MQTT" }).count()).toBe(0);
  });
});
