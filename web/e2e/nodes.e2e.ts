import { describe, expect, test } from "vitest";
import type { Node } from "../src/generated/api";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import type { Call } from "./stand";
import {
  campusNodes,
  childOf,
  Joined,
  parentOf,
  pendingOf,
  toldNode,
  uplinkOf,
} from "./stand-nodes";

const open = useBrowser();

const enter = (joined: Joined, address: string, role = "administrator") =>
  open({ site: building, address, role, handlers: joined.handlers });

describe("letting nodes join", () => {
  test("makes a code, shows it once, and says when it was used", async () => {
    const joined = new Joined();
    const { page, complaints } = await enter(joined, "/nodes");
    await page.getByText("No child nodes").waitFor();
    await page.getByRole("link", { name: "Let a node join this one" }).click();
    await page.getByRole("button", { name: "Invite a node" }).click();
    const form = page.getByRole("form", { name: "Invite a node" });
    await form.getByLabel(/^Its points lie below/).fill("campus/**");
    await page.getByRole("button", { name: "Make the code" }).click();
    await page.getByText("Write the place as a path without *").waitFor();
    await form.getByLabel(/^Its points lie below/).fill("campus/b1");
    await page.getByText("Grant more").click();
    const grant = page.getByRole("form", { name: "Grant more" });
    expect(await grant.getByText("hold the capability").count()).toBe(0);
    await grant.getByLabel("Allow it to").selectOption("read");
    await grant.getByLabel("Path").fill("weather/**");
    await grant.getByRole("button", { name: "Grant" }).click();
    await page.getByText("may read the history of weather/**").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Make the code" }).click();
    const code = page.getByRole("region", { name: "Code of the invitation" });
    await code.getByText(/^vb1/).waitFor();
    await code.getByRole("img", { name: "The code for a camera" }).waitFor();
    await code.getByText("voltbus join", { exact: true }).waitFor();
    expect(joined.asked.at(-1)?.body).toMatchObject({
      ...{ prefix: "campus/b1", approved: false, grants: { read: ["weather/**"] } },
    });
    expect(await seriousViolations(page)).toEqual([]);
    const [invitation] = joined.invitations;
    Object.assign(invitation ?? {}, { state: "used", used_by: "plant" });
    joined.children.push(pendingOf("plant"));
    await code.getByText("The code was used.").waitFor();
    expect(await page.getByText(/^vb1/).count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("shows the fingerprint to compare before a node is let in", async () => {
    const joined = new Joined();
    joined.children.push(pendingOf("plant"), pendingOf("stranger"));
    const { page } = await enter(joined, "/nodes/join");
    await page.getByText("2 nodes wait for approval").waitFor();
    await page.getByRole("link", { name: "Let nodes join (2 waiting)" }).waitFor();
    await page.getByRole("button", { name: "Approve plant…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("1f0c 9d2b 77ae").waitFor();
    expect(joined.asked).toEqual([]);
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "They are the same: let it in" }).click();
    await page.getByText("1 node waits for approval").waitFor();
    await page.getByRole("button", { name: "Deny…" }).click();
    await dialog.getByRole("button", { name: "Keep it out" }).click();
    await page.getByText("No node waits for approval").waitFor();
    expect(joined.asked.map((a) => a.resource)).toEqual([
      "children/plant/approve",
      "children/stranger/deny",
    ]);
  });

  test("cancels a code that nobody used", async () => {
    const joined = new Joined();
    const { page } = await enter(joined, "/nodes/join");
    await page.getByRole("button", { name: "Invite a node" }).click();
    await page.getByRole("button", { name: "Make the code" }).click();
    await page.getByRole("button", { name: "I have it" }).click();
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: /^Cancel the invitation of/ }).click();
    await page
      .getByRole("list", { name: "Invitations" })
      .getByText("cancelled", { exact: false })
      .waitFor();
  });

  test("lets a viewer see who waits, and change nothing", async () => {
    const joined = new Joined();
    joined.children.push(pendingOf("plant"));
    const { page } = await enter(joined, "/nodes/join", "viewer");
    await page.getByText("1f0c 9d2b 77ae").waitFor();
    await page.getByText("An administrator can let nodes in.").waitFor();
    expect(await page.getByRole("button", { name: /Approve|Deny|Invite/ }).count()).toBe(0);
  });
});

describe("a child node", () => {
  test("that waits says so on its own page, and leads to the approval", async () => {
    const joined = new Joined();
    joined.children.push(pendingOf("plant"));
    const { page } = await enter(joined, "/node/plant");
    await page.getByText("nobody yet").waitFor();
    await page.getByRole("heading", { name: "Rights here after approval" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "Compare its key, and approve or deny it" }).click();
    await page.getByRole("button", { name: "Approve plant…" }).waitFor();
  });

  test("is shut out after a question that says what it means, and let in again", async () => {
    const joined = new Joined();
    joined.children.push(childOf("plant"));
    const { page } = await enter(joined, "/nodes");
    await page.goto(new URL("/node/plant", page.url()).href);
    const state = page.getByRole("status", { name: "State" });
    await state.getByText("connected").waitFor();
    await page.getByRole("button", { name: "Shut it out…" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("Its connection ends at once").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Shut it out" }).click();
    await state.getByText("shut out").waitFor();
    await page.getByRole("button", { name: "Let it in again…" }).click();
    await dialog.getByRole("button", { name: "Let it in" }).click();
    await state.getByText("not connected").waitFor();
    await page.getByRole("button", { name: "Forget it…" }).click();
    await dialog.getByRole("button", { name: "Forget it" }).click();
    await expect.poll(() => new URL(page.url()).pathname).toBe("/nodes");
    await page.getByText("No child nodes").waitFor();
  });

  test("is granted more, and confined to another place", async () => {
    const joined = new Joined();
    joined.children.push(childOf("plant", { grants: { read: ["weather/**"] } }));
    const { page } = await enter(joined, "/node/plant");
    page.once("dialog", (dialog) => void dialog.accept());
    await page
      .getByRole("button", { name: "Withdraw: may read the history of weather/**" })
      .click();
    await expect
      .poll(() => joined.asked.at(-1)?.body)
      .toEqual({ withdraw: { read: ["weather/**"] } });
    const place = page.getByRole("form", { name: "Place of its points" });
    await place.getByLabel("Its points lie below").fill("campus/b1");
    await place.getByRole("button").click();
    await expect.poll(() => joined.children[0]?.prefix).toBe("campus/b1");
  });

  test("whose words are hostile does nothing, on a phone", async () => {
    const joined = new Joined();
    const [name = "", version = "", prefix = "", by = ""] = attacks;
    joined.children.push(pendingOf(name, { version, prefix, by, fingerprint: attacks[3] ?? "" }));
    joined.children.push(childOf(version, { version: prefix, prefix: name }));
    joined.parent = parentOf({ state: "revoked", why: name, parent: version });
    const { page } = await open({
      ...{ site: building, address: "/nodes/join", handlers: joined.handlers, browser: phone },
    });
    for (const address of ["/nodes/join", "/nodes", "/nodes/parent"]) {
      await page.goto(new URL(address, page.url()).href);
      await page.getByRole("navigation", { name: "Parts of nodes" }).waitFor();
      await page.locator(".card").first().waitFor();
      expect(await page.evaluate(() => "pwned" in window)).toBe(false);
      expect(await page.locator("main :is(img, iframe, object, style)").count()).toBe(0);
      expect(await sidewaysScroll(page)).toBe(0);
      expect(await seriousViolations(page)).toEqual([]);
    }
  });
});

describe("the fleet", () => {
  test("is a list to sort and filter, with an address for what is shown", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const { page, complaints } = await enter(joined, "/nodes", "viewer");
    const sentence = page.getByRole("status", { name: "All nodes" });
    await sentence.getByText("1 of 6 nodes is away: ").waitFor();
    const list = page.getByRole("region", { name: "List of nodes" });
    const names = () => list.getByRole("rowheader").getByRole("link").allTextContents();
    expect(await names()).toEqual(joined.nodes.map((n) => n.name));
    await list.getByText("1,026,000 samples").waitFor();
    await list.getByText("2 h behind").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await list.getByRole("button", { name: "State" }).click();
    await expect.poll(async () => (await names())[0]).toBe("plant-2");
    expect(new URL(page.url()).search).toBe("?sort=state");
    const sorted = (name: string) =>
      list.getByRole("columnheader", { name }).getAttribute("aria-sort");
    expect(await sorted("State")).toBe("ascending");
    await list.getByRole("button", { name: "Backlog" }).click();
    await expect.poll(() => sorted("Backlog")).toBe("descending");
    await page.getByLabel("Filter the nodes").fill("0.8");
    await expect.poll(names).toEqual(["plant-4"]);
    await page.getByLabel("Filter the nodes").fill("");
    await page.getByLabel("Only nodes that need attention").check();
    await expect.poll(names).toEqual(["plant-2", "plant-1", "plant-4", "plant-5"]);
    await page.reload();
    await expect.poll(names).toEqual(["plant-2", "plant-1", "plant-4", "plant-5"]);
    expect(complaints).toEqual([]);
  });

  test("is a map of who hangs under whom", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const { page } = await enter(joined, "/nodes?show=map", "viewer");
    const map = page.getByRole("list", { name: "Map of the nodes" });
    const plant = map.getByRole("listitem").filter({ hasText: "plant-1" }).last();
    await plant.getByRole("link", { name: "cellar" }).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await map.getByRole("link", { name: "plant-2" }).click();
    await page.getByRole("heading", { name: "plant-2" }).waitFor();
    await page.getByText("connecting: no route to host").waitFor();
    await page.getByText("1,026,000 samples, 3.9 MB").waitFor();
  });

  test("shows on a phone what a node says of itself, hostile words as text", async () => {
    const joined = new Joined();
    const [name = "", version = "", note = "", role = ""] = attacks;
    const words = { version, note, roles: [role], prefix: name, link_note: note, origins: [role] };
    joined.nodes.push(toldNode(name, [name], words));
    const opening = { site: building, handlers: joined.handlers, browser: phone };
    const { page } = await open({ ...opening, address: "/nodes" });
    for (const address of ["/nodes", "/nodes?show=map", `/node/${encodeURIComponent(name)}`]) {
      await page.goto(new URL(address, page.url()).href);
      await page.getByText(name, { exact: true }).first().waitFor();
      expect(await page.evaluate(() => "pwned" in window)).toBe(false);
      expect(await page.locator("main :is(img, iframe, object, style)").count()).toBe(0);
      expect(await sidewaysScroll(page)).toBe(0);
      expect(await seriousViolations(page)).toEqual([]);
    }
  });

  test("shows live what changes of the nodes, by one stream for all its parts", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const streams: string[] = [];
    const opened = new Set<Call>();
    const events = joined.handlers["GET events/nodes"];
    const handlers = {
      ...joined.handlers,
      "GET events/nodes": (call: Call) => {
        streams.push(call.query.toString());
        opened.add(call);
        call.response.on("close", () => opened.delete(call));
        return events?.(call);
      },
    };
    const { page } = await open({
      ...{ site: building, address: "/nodes", role: "engineer", handlers },
    });
    const change = (name: string, more: Partial<Node>) => {
      joined.nodes = joined.nodes.map((n) => (n.name === name ? { ...n, ...more } : n));
    };
    const row = page.getByRole("row").filter({ hasText: "plant-5" });
    await row.getByText("disk nearly full").waitFor();
    change("plant-5", { disk: 50_000_000_000 });
    await row.getByText("connected").waitFor();
    joined.nodes = [...joined.nodes, toldNode("plant-6", ["plant-6"])];
    await page.getByRole("link", { name: "plant-6" }).click();
    const state = page.getByRole("status", { name: "State" });
    await state.getByText("connected").waitFor();
    change("plant-6", { state: "away" });
    await state.getByText("away").waitFor();
    await page.getByRole("link", { name: "Ledger", exact: true }).first().click();
    await page.getByRole("heading", { name: "Ledger" }).waitFor();
    await page.goBack();
    await state.getByText("away").waitFor();
    // The page of a node needs the ledger, too; a screen whose code comes late may find the stream ended
    expect([...new Set(streams)]).toEqual(["", "ledger=true"]);
    await expect.poll(() => opened.size).toBe(1);
  });

  test("follows the nodes again when they were away", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const { page, node } = await enter(joined, "/nodes", "viewer");
    const row = page.getByRole("row").filter({ hasText: "plant-5" });
    await row.getByText("disk nearly full").waitFor();
    await node.stop();
    await page.getByRole("status", { name: "Connection" }).waitFor();
    joined.nodes = joined.nodes.map((n) => ({ ...n, disk: n.disk_size }));
    await node.start();
    await row.getByText("connected").waitFor({ timeout: 20_000 });
  });
});

describe("the parent", () => {
  test("is joined with a code, and left", async () => {
    const joined = new Joined();
    const { page } = await enter(joined, "/nodes/parent");
    const form = page.getByRole("form", { name: "Join a node" });
    await form.getByLabel("Code", { exact: true }).fill("hello");
    await form.getByRole("button", { name: "Join" }).click();
    await form.getByText("the code was not copied right").waitFor();
    await form.getByLabel("Code", { exact: true }).fill("vb1abc");
    await form.getByRole("button", { name: "Join" }).click();
    const word = page.getByRole("status", { name: "Parent" });
    await word.getByText("region has not let this node in yet.").waitFor();
    await page.getByText("1f0c 9d2b 77ae").waitFor();
    joined.parent = parentOf();
    await word.getByText("Connected to region since").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Leave region" }).click();
    await page.getByText("This node has no parent").waitFor();
  });

  test("says why it does not take something, and what to do", async () => {
    const joined = new Joined();
    const reason = "campus/b9/x lies outside campus/b1";
    const counts = {
      ...{ sequence: 9, samples: 880, sent: 1000, octets: 3000, acknowledged: 880 },
      ...{ left: 0, repeated: 12, dropped: 0 },
    };
    joined.parent = parentOf({
      uplink: uplinkOf({ waiting: 4, origins: [{ origin: "campus~a1b2c3", ...counts, reason }] }),
    });
    const { page } = await enter(joined, "/nodes/parent", "viewer");
    const word = page.getByRole("status", { name: "Parent" });
    await word.getByText(`does not take what campus~a1b2c3 recorded: ${reason}`).waitFor();
    await word.getByText("goes on by itself when the right is given there").waitFor();
    const row = page.getByRole("region", { name: "What goes up, by origin" }).getByRole("row");
    await row.getByText("880").waitFor();
    expect(await page.getByRole("button", { name: /Leave|new key/ }).count()).toBe(0);
  });
});
