import { describe, expect, test } from "vitest";
import type { Grants } from "../src/generated/api";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building } from "./sites";
import { Refusal } from "./stand";
import { Agents, fleet, running } from "./stand-agents";

const open = useBrowser();

async function agents(address = "/agents", more: object = {}, known = fleet()) {
  const opened = await open({ site: building, address, handlers: known.handlers, ...more });
  return { known, ...opened };
}

const wheel = (name: string) => ({ name, mimeType: "application/zip", buffer: Buffer.from("PK") });

describe("agents", () => {
  test("are listed with state, health and figures", async () => {
    const { page, complaints } = await agents();
    const row = (name: string) => page.getByRole("row").filter({ hasText: name });
    await row("boiler-watch").getByText("running").waitFor();
    await row("boiler-watch").getByText("3 of 3 boilers within limits").waitFor();
    await row("economizer").getByText("ended, starts again soon").waitFor();
    await row("gateway-7").getByText("the uplink is slow").waitFor();
    await expect
      .poll(() => row("boiler-watch").getByRole("cell").nth(4).textContent())
      .toMatch(/^1[123](\.\d)?$/);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("link", { name: "boiler-watch" }).click();
    await page.getByRole("heading", { name: "boiler-watch" }).waitFor();
    expect(complaints).toEqual([]);
  });

  test("that are not there tell how to begin", async () => {
    const { page } = await agents("/agents", {}, new Agents());
    await page.getByText("voltbus agent new boiler-watch").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("are stopped after a question, and started", async () => {
    const { page, known } = await agents("/agents/boiler-watch", { role: "operator" });
    const button = (name: string) => page.getByRole("button", { name, exact: true });
    await button("Stop").waitFor();
    expect(await button("Remove").count()).toBe(0);
    page.once("dialog", (dialog) => void dialog.dismiss());
    await button("Stop").click();
    expect(known.deeds).toEqual([]);
    page.once("dialog", (dialog) => void dialog.accept());
    await button("Stop").click();
    await button("Start").click();
    await button("Restart").waitFor();
    expect(known.deeds).toEqual(["boiler-watch stop", "boiler-watch start"]);
  });

  test("go back a version, and start with the node", async () => {
    const { page, known } = await agents("/agents/boiler-watch", { role: "engineer" });
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Back to version 2" }).click();
    await page.getByRole("button", { name: "Back to version 1" }).waitFor();
    await page.getByRole("button", { name: "Start with the node" }).click();
    await page.getByRole("button", { name: "Do not start with the node" }).waitFor();
    expect(known.deeds).toEqual(["boiler-watch rollback", "boiler-watch enable"]);
  });

  test("print a log that goes on, is searched, and held", async () => {
    const { page, known, complaints } = await agents("/agents/boiler-watch");
    const lines = page.getByRole("region", { name: "Lines of the log" });
    await lines.getByText("checked 3 boilers").waitFor();
    const print = (message: string) =>
      known.print({ time: new Date().toISOString(), level: "info", stream: "stderr", message });
    print("something new");
    await lines.getByText("something new").waitFor();
    expect(await lines.getByRole("listitem").first().textContent()).toContain("something new");
    await page.getByRole("button", { name: "Pause" }).click();
    print("not shown");
    await page.getByText("1 more came while it was held").waitFor();
    expect(await lines.getByText("not shown").count()).toBe(0);
    await page.getByRole("button", { name: "Go on" }).click();
    await page.getByLabel("Least level").selectOption("error");
    await expect.poll(() => lines.getByRole("listitem").count()).toBe(1);
    expect(known.asked.at(-1)?.get("level")).toBe("error");
    await page.getByRole("searchbox", { name: "Search the log" }).fill("holidays");
    await page.getByRole("button", { name: "Search" }).click();
    await expect.poll(() => known.asked.at(-1)?.get("search")).toBe("holidays");
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("may what stands there, and get what they want", async () => {
    const { page, known } = await agents("/agents/boiler-watch?show=rights");
    const granted = page.getByRole("list", { name: "Granted" });
    await granted.getByText("may call weather:forecast, where hours up to 48").waitFor();
    const lacks = page.getByRole("region", { name: "What it wants and does not have" });
    await lacks.getByText("may send live values and messages about analysis/**").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await lacks.getByRole("button", { name: "Allow all that it wants" }).click();
    await expect.poll(() => lacks.count()).toBe(0);
    expect(known.deeds).toEqual(["boiler-watch approve"]);
  });

  test("are granted more and less, and told what is wrong", async () => {
    const { page, known } = await agents("/agents/boiler-watch?show=rights");
    const form = page.getByRole("form", { name: "Grant more" });
    await form.getByLabel("Path").fill("campus/b*/x");
    await form.getByRole("button", { name: "Grant" }).click();
    await form.getByRole("alert").getByText("must be a whole segment").waitFor();
    await form.getByLabel("Path").fill("campus/*/ahu1");
    await form.getByRole("button", { name: "Grant" }).click();
    await page.getByText("may listen to campus/*/ahu1").waitFor();
    page.once("dialog", (dialog) => void dialog.accept());
    await page.getByRole("button", { name: "Withdraw: may listen to campus/plant" }).click();
    await expect.poll(() => known.identities[0]?.grants.subscribe).toEqual(["campus/*/ahu1"]);
    await form.getByLabel("Allow it to").selectOption("command");
    await form.getByLabel("Path").fill("campus/b1");
    await form.getByLabel("Most urgent level").fill("20");
    await form.getByRole("button", { name: "Grant" }).click();
    await form.getByRole("alert").getByText("from 1, the most urgent, to 16").waitFor();
  });

  test("answer calls of their methods", async () => {
    const { page, known } = await agents("/agents/boiler-watch?show=methods", { role: "operator" });
    await page.getByText("limit(device, limit = 80) → float").click();
    const form = page.getByRole("form", { name: "Call limit" });
    await form.getByLabel("device").fill("boiler1");
    await form.getByLabel(/^limit/).fill("75.5");
    known.reply = { result: 80 };
    expect(await seriousViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Call limit" }).click();
    await page.getByRole("status", { name: "Answer of limit" }).getByText("80").waitFor();
    expect(known.calls).toEqual([
      { method: "limit", args: [], kwargs: { device: "boiler1", limit: 75.5 } },
    ]);
    known.reply = new Refusal(422, `raised ValueError: ${attacks[0]}`, "rejected");
    await form.getByRole("button", { name: "Call limit" }).click();
    await page.getByText(`raised ValueError: ${attacks[0]}`).waitFor();
  });

  test("leave reports when they crash", async () => {
    const { page } = await agents("/agents/economizer?show=ends", { browser: phone });
    await page.getByRole("button", { name: "20260301T080102.json" }).click();
    await page.getByText("KeyError: 'damper'").waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("are installed from a wheel, and start after what they want was shown", async () => {
    const { page, known, complaints } = await agents();
    known.wants = { subscribe: ["campus/**"], record: ["analysis/**"] };
    await page.getByRole("button", { name: "Install an agent" }).click();
    const form = page.getByRole("form", { name: "Package" });
    await form.getByLabel(/^Package/).setInputFiles(wheel("heat_pump-1.0-py3-none-any.whl"));
    expect(await form.getByLabel(/^Name/).inputValue()).toBe("heat-pump");
    expect(await seriousViolations(page)).toEqual([]);
    await form.getByRole("button", { name: "Install" }).click();
    const wants = page.getByRole("list", { name: "What it wants" });
    await wants.getByText("may record samples of analysis/**").waitFor();
    expect(known.deeds).toEqual(["heat-pump install grant=none"]);
    await page.getByRole("button", { name: "Allow it, and start" }).click();
    await page.getByRole("link", { name: "Go to heat-pump" }).click();
    await page.getByRole("heading", { name: "heat-pump" }).waitFor();
    expect(known.deeds.slice(1)).toEqual(["heat-pump approve", "heat-pump start"]);
    expect(complaints).toEqual([]);
  });

  test("cannot be allowed anything by an engineer, and are no other files", async () => {
    const { page, known } = await agents("/agents", { role: "engineer" });
    known.wants = { subscribe: ["campus/**"] };
    await page.getByRole("button", { name: "Install an agent" }).click();
    const form = page.getByRole("form", { name: "Package" });
    await form.getByLabel(/^Package/).setInputFiles(wheel("notes.txt"));
    await form.getByRole("button", { name: "Install" }).click();
    await form.getByText("A package is a .whl, a .tar.gz or a .zip.").waitFor();
    await form.getByLabel(/^Package/).setInputFiles(wheel("a-1.0.zip"));
    await form.getByRole("button", { name: "Install" }).click();
    await page.getByText("Only an administrator can allow that.").waitFor();
    expect(await page.getByRole("button", { name: /^Allow/ }).count()).toBe(0);
  });

  test("with hostile words are text, on a phone as well", async () => {
    const known = new Agents();
    const wants: Grants = { subscribe: [...attacks], hold: attacks.map((name) => ({ name })) };
    known.processes = attacks.map((a) =>
      running(a, { text: a, title: a, release: a, isolation: [a], wants: { ...wants } }),
    );
    known.log = attacks.map((a) => ({
      time: new Date().toISOString(),
      level: a,
      stream: "stdout" as const,
      logger: a,
      message: a,
      extra: { [a]: a },
    }));
    const { page, complaints } = await agents("/agents", { browser: phone }, known);
    await expect.poll(() => page.getByRole("row").count()).toBe(attacks.length + 1);
    expect(await sidewaysScroll(page)).toBe(0);
    await page.getByRole("link", { name: attacks[0] }).click();
    const lines = page.getByRole("region", { name: "Lines of the log" });
    await expect.poll(() => lines.getByRole("listitem").count()).toBe(attacks.length);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
