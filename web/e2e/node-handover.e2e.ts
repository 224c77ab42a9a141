// What a shift hands over at a running node with two more below it: one tells all, the other its readings only.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ControlOverrides, Invited, Nodes } from "../src/generated/api";
import { launch, openPage, seriousViolations } from "./browser";
import { ask, type Running, startNode } from "./nodes-run";

const { VOLTBUS_BIN: program = "" } = process.env;
const shots = process.env.VOLTBUS_SHOTS;
/** What the barn lets the node above ask: nothing but its readings. The plant says nothing of it, and so tells all. */
const allow = `uplink:
  allow:
    - read **
`;
const long = { timeout: 60_000 };

describe.skipIf(program === "")("a hand-over of three running nodes", () => {
  let browser: Browser;
  let campus: Running;
  let plant: Running;
  let barn: Running | undefined;
  beforeAll(async () => {
    browser = await launch();
    [campus, plant, barn] = await Promise.all([
      startNode(program, "campus"),
      startNode(program, "plant"),
      startNode(program, "barn", allow),
    ]);
  });
  afterAll(async () => {
    await browser?.close();
    for (const node of [plant, barn, campus]) await node?.stop();
  });

  /** Lets a node in below the campus. */
  async function join(child: Running): Promise<void> {
    const { code } = await ask<Invited>(campus, "POST", "invitations", {
      ...{ approved: true, addresses: [`127.0.0.1:${campus.bus}`] },
    });
    await ask(child, "POST", "parent", { code });
  }

  const states = async () =>
    Object.fromEntries(
      (await ask<Nodes>(campus, "GET", "nodes")).nodes.map((n) => [n.name, n.state]),
    );

  test("has what descendants hold and noted, and names the one that is away", {
    timeout: 180_000,
  }, async () => {
    if (!barn) throw new Error("the barn does not run");
    await Promise.all([join(plant), join(barn)]);
    await expect.poll(states, long).toMatchObject({ plant: "connected", barn: "connected" });
    await ask(plant, "POST", "control/overrides", {
      ...{ pattern: "plant/room2/**", length: 3600, reason: "<b>valve</b> is open" },
    });
    await ask(plant, "POST", "control/commands", {
      commands: [{ point: "plant/room1/setpoint", value: 23.25, level: 8, reason: "cold guest" }],
    });
    const now = new Date().toISOString();
    await ask(plant, "PUT", "annotations", { from: now, text: "filter of room 1 is clogged" });
    await ask(campus, "PUT", "annotations", { from: now, text: "the lift waits for a part" });
    const atPlant = () => ask<ControlOverrides>(campus, "GET", "control/overrides?node=plant");
    await expect.poll(async () => (await atPlant()).overrides.length, long).toBe(1);

    const { page, complaints } = await openPage(browser);
    await page.goto(`${campus.url}/handover#token=${encodeURIComponent(campus.token)}`);
    const overrides = page.getByRole("region", { name: "Overrides in force" });
    const line = (text: string | RegExp) =>
      overrides.getByRole("listitem").filter({ hasText: text });
    await line(/^plant: plant\/room2\/\*\* .*: <b>valve<\/b> is open$/).waitFor(long);
    await line(/^plant: plant\/room1\/setpoint 23.25 at level 8.*: cold guest$/).waitFor(long);
    expect(await overrides.getByRole("listitem").count()).toBe(2);
    const notes = page.getByRole("region", { name: "Notes" });
    await notes.getByText("plant: filter of room 1 is clogged").waitFor(long);
    await notes.getByText("the lift waits for a part").waitFor();
    const short = page.getByRole("status", { name: "In short" });
    await short.getByText("1 node not told or only in part").waitFor(long);
    await page
      .getByText("Not told of barn: alarms, what happened, notes (")
      .and(page.getByText("missing: call node:annotation.list"))
      .waitFor(long);
    await expect.poll(() => page.getByText(/Not told of plant|plant is not told/).count()).toBe(0);

    const away = barn;
    barn = undefined;
    await away.stop();
    await expect.poll(states, long).toMatchObject({ plant: "connected", barn: "away" });

    await page.reload();
    await page.getByText(/^barn is not told: it has been away for /).waitFor(long);
    await short.getByText("1 node not told or only in part").waitFor(long);
    await notes.getByText("plant: filter of room 1 is clogged").waitFor(long);
    expect(await page.getByRole("alert").count()).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints.filter((c) => !c.includes("403 (Forbidden)"))).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/handover-nodes.png`, fullPage: true });
  });
});
