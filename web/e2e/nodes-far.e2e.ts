import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { type Call, Refusal } from "./stand";
import { AuditLog } from "./stand-audit";
import { plant, Settings } from "./stand-config";
import { inMinutes } from "./stand-control";
import { FarPoints } from "./stand-far";
import { campusNodes, Joined } from "./stand-nodes";

const open = useBrowser();

const enter = (joined: Joined, address: string, role = "administrator") =>
  open({ site: building, address, role, handlers: joined.handlers });

describe("another node, from above", () => {
  test("starts and stops the agents of another node, and says what is refused there", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    let state = "running";
    const asked: string[] = [];
    const name = attacks[0];
    const handlers = {
      ...joined.handlers,
      "GET processes": ({ query }: Call) => {
        asked.push(`list at ${query.get("node")}`);
        return { processes: [{ name, state, crashes: [] }], isolation: [], why_not: "" };
      },
      "POST agents/*": ({ resource, query }: Call) => {
        asked.push(`${resource.split("/").at(-1)} at ${query.get("node")}`);
        if (state === "stopped") return new Refusal(403, "plant-1 does not let it be started");
        state = "stopped";
        return {};
      },
    };
    const { page } = await open({
      ...{ site: building, address: "/node/plant-1?part=agents", role: "operator", handlers },
    });
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: `stop ${name}` }).click();
    await page.getByRole("button", { name: `start ${name}` }).click();
    await page.getByText("plant-1 does not let it be started").waitFor();
    expect(new Set(asked)).toEqual(
      new Set(["list at plant-1", "stop at plant-1", "start at plant-1"]),
    );
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("shows a node's own log, and what is missing where it is refused", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const asked: string[] = [];
    let isAllowed = false;
    const [message = ""] = attacks;
    const line = { number: 7, time: inMinutes(-1), level: "warning", message, extra: { port: 4 } };
    const handlers = {
      ...joined.handlers,
      "GET log/follow": ({ query, response }: Call) => {
        asked.push([query.get("node"), query.get("level"), query.get("search")].join(" "));
        const missing = "call node:log";
        if (!isAllowed)
          return new Refusal(403, "plant-1 does not let it be read", "refused", { missing });
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write(`event: line\ndata: ${JSON.stringify(line)}\n\n`);
        response.write('event: lost\ndata: {"count":12}\n\n');
        return "streamed";
      },
    };
    const { page } = await open({
      ...{ site: building, address: "/node/plant-1?part=log", role: "engineer", handlers },
      browser: phone,
    });
    await page.getByText("plant-1 does not let it be read").waitFor();
    await page.getByText("The capability “call node:log” is missing").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    isAllowed = true;
    await page.getByRole("button", { name: "Ask again" }).click();
    const lines = page.getByRole("region", { name: "Lines of the log" });
    await lines.getByText(message).waitFor();
    await page.getByText("12 lines came faster than could be sent").waitFor();
    await page.getByLabel("Least level").selectOption("warning");
    await page.getByLabel("Search the log").fill("port");
    await page.getByRole("button", { name: "Search" }).click();
    await expect.poll(() => asked.at(-1)).toBe("plant-1 warning port");
    await lines.getByText(message).waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("keeps the log of a node from those who are no engineers", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const { page } = await enter(joined, "/node/plant-1?part=log", "operator");
    await page.getByText("8,204,100").waitFor();
    expect(await page.getByRole("link", { name: "Log", exact: true }).count()).toBe(0);
  });

  test("shows live values of another node by a pattern, until somebody stops them", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const far = new FarPoints(700);
    const { page } = await open({
      ...{ site: building, address: "/node/plant-1?part=live", role: "viewer" },
      handlers: { ...joined.handlers, ...far.handlers },
    });
    const status = page.getByRole("status", { name: "Live values of the node" });
    await status.getByText("500 points, live.").waitFor();
    await page.getByText("These are the first 500 points").waitFor();
    const table = page.getByRole("region", { name: "Values of its points" });
    expect(await table.getByRole("row").count()).toBe(501);
    await page.getByLabel("Pattern of the points").fill("ahu1/*");
    await page.getByRole("button", { name: "Show" }).click();
    await status.getByText("3 points, live.").waitFor();
    expect(new URL(page.url()).searchParams.get("pattern")).toBe("ahu1/*");
    const row = table.getByRole("row").filter({ hasText: "ahu1/p0" });
    far.send({ p0: 21.5, p900: 1 }, { p0: "uncertain" });
    await row.getByText("21.5").waitFor();
    await row.getByText("uncertain").waitFor();
    far.send({ p0: 22.5 });
    await row.getByText("22.5").waitFor();
    expect(await table.getByText("p900").count()).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Stop" }).click();
    await status.getByText("3 points, stopped.").waitFor();
    await expect.poll(() => far.readers).toBe(0);
    await page.getByRole("button", { name: "Go on" }).click();
    await status.getByText("3 points, live.").waitFor();
    expect(new Set(far.asked)).toEqual(new Set(["plant-1"]));
  });

  test("says what is missing where live values are refused, and when the node is away", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const far = new FarPoints(3);
    far.refusal = new Refusal(403, "plant-1 says no", "refused", { missing: "subscribe ahu1" });
    const { page } = await open({
      ...{ site: building, address: "/node/plant-1?part=live", role: "viewer", browser: phone },
      handlers: { ...joined.handlers, ...far.handlers },
    });
    await page.getByText("The capability “subscribe ahu1” is missing").waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    far.refusal = new Refusal(502, "plant-1 is not connected since 10:04", "unreachable");
    await page.getByRole("button", { name: "Ask again" }).click();
    await page.getByText("plant-1 is not connected since 10:04").waitFor();
    far.refusal = undefined;
    await page
      .getByRole("status", { name: "Live values of the node" })
      .getByText("live.")
      .waitFor();
  });

  test("pushes a configuration on trial, and says when the node went back", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const config = new Settings(plant, "ann");
    const before = config.text;
    const asked = new Set<string | null>();
    let end: (lost: boolean) => void = () => {};
    const handlers = {
      ...joined.handlers,
      ...config.handlers,
      "PUT config": (call: Call) => {
        asked.add(call.query.get("node"));
        const applied = config.handlers["PUT config"]?.(call);
        end = (lost) => {
          if (lost) config.write(before, "");
          const answer = lost ? { detail: "not reached", kind: "unreachable" } : applied;
          call.response.writeHead(lost ? 502 : 200, { "Content-Type": "application/json" });
          call.response.end(JSON.stringify(answer));
        };
        return "streamed";
      },
    };
    const { page } = await open({
      ...{ site: building, address: "/node/plant-1?part=settings", role: "engineer", handlers },
    });
    const editor = page.getByRole("textbox", { name: "Configuration" });
    const review = page.getByRole("button", { name: "Review changes" });
    const changed = plant.replace("10s", "20s");
    const pushIt = async () => {
      await page.getByRole("button", { name: "Push to plant-1" }).click();
      const trial = page.getByRole("status", { name: "Trial" });
      await trial.getByText(/goes back by itself in \d+ s/).waitFor();
      expect(await seriousViolations(page)).toEqual([]);
    };
    await editor.fill(changed);
    await review.click();
    await page.getByLabel("On trial for at most").selectOption("30 seconds");
    await pushIt();
    end(true);
    await page.getByText("plant-1 has the configuration from before").waitFor();
    expect(config.text).toBe(before);
    await page.getByText("added: interval: 20s").waitFor();
    await pushIt();
    end(false);
    await page.getByText("plant-1 was reached with the new configuration").waitFor();
    expect(config.text).toBe(changed);
    expect(asked).toEqual(new Set(["plant-1"]));
  });

  test("says what a node must allow before its configuration is read from afar", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const handlers = {
      ...joined.handlers,
      "GET config": () => new Refusal(403, "plant-1 needs call node:config.get", "refused"),
    };
    const { page } = await open({
      ...{ site: building, address: "/node/plant-1?part=settings", browser: phone, handlers },
    });
    await page.getByText("plant-1 needs call node:config.get").waitFor();
    await page.getByText("uplink.allow").waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    joined.nodes = joined.nodes.map((n) => (n.name === "plant-1" ? { ...n, state: "away" } : n));
    await page.getByText("uplink.allow").waitFor({ state: "detached" });
  });

  test("tells engineers what happened to a node", async () => {
    const joined = new Joined();
    joined.nodes = campusNodes();
    const log = new AuditLog([
      { actor: "person:ann", action: "child.approve", subject: "plant-1", outcome: "accepted" },
    ]);
    const handlers = { ...joined.handlers, ...log.handlers };
    const { page } = await open({
      ...{ site: building, address: "/node/plant-1", role: "engineer", handlers },
    });
    await page.getByText("8,204,100").waitFor();
    await page.getByRole("main").getByRole("link", { name: "What happened" }).click();
    await page.getByRole("region", { name: "Entries" }).getByText("Child node approved").waitFor();
  });
});
