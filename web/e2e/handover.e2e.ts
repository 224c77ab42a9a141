// What a shift hands over: one page, however much happened.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import type { Alarm, TimelineEvent } from "../src/generated/api";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { building } from "./sites";
import { type Call, Refusal } from "./stand";
import { AlarmStand, onPoint } from "./stand-alarms";
import { toldNode } from "./stand-nodes";

const open = useBrowser();
const shots = process.env.VOLTBUS_SHOTS;
const at = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();
const many = <T>(n: number, make: (i: number) => T) => Array.from({ length: n }, (_, i) => make(i));

const events = (): TimelineEvent[] =>
  many(90, (i) => ({
    ...{ number: i, node: "", time: at(i), subject: "", point: false },
    kind: i % 3 === 0 ? "outage" : "command",
    level: i % 3 === 0 ? "bad" : "info",
    who: "person:ben",
    text: `ben set campus/b1/ahu${i}/setpoint to ${i} because of a reason that is so long that it does not fit a line`,
  }));

const alarms = (): Alarm[] => [
  ...many(40, (i) => onPoint("hot", `campus/b1/ahu${i}/temp`, { node: "branch-2" })),
  ...many(20, (i) => onPoint("shelf", `b/p${i}`, { state: "shelved", shelved_until: at(-60) })),
  ...many(20, (i) => onPoint("off", `b/p${i}`, { state: "out_of_service", note: "pump is out" })),
];

/** A node after a bad night; notes are those that it is given. */
function night(notes: Record<string, unknown>[]) {
  return {
    ...new AlarmStand(alarms()).handlers,
    "GET timeline": () => ({ events: events(), next: "", missing: [] }),
    "GET control/overrides": ({ query }: Call) => ({
      overrides: many(query.has("node") ? 8 : 20, (i) => ({
        ...{ requester: "person:admin", path: `campus/b${i}/**`, reason: "work on the plant" },
        from: at(query.has("node") ? 5 : 60),
      })),
    }),
    "GET control/points": () => ({ points: [], next: "" }),
    "GET control/held": () => new Refusal(404, "this node has no control", "not-found"),
    "GET annotations": ({ query }: Call) =>
      query.has("node")
        ? new Refusal(403, "is too long to say ".repeat(20))
        : { annotations: notes },
    "GET nodes": () => ({
      nodes: [
        toldNode("campus", [], { state: "here" }),
        toldNode("branch-2", ["branch-2"], { state: "connected" }),
        ...many(9, (i) => toldNode(`branch-3${i}`, [`branch-3${i}`], { state: "away" })),
      ],
      ...{ above: [], refused: [] },
    }),
    "PUT annotations": ({ body }: { body: unknown }) => {
      notes.push({ id: "n", points: [], by: "person:admin", ...(body as object) });
      return {};
    },
  };
}

async function pagesOf(page: Page): Promise<number> {
  const pdf = (await page.pdf({ preferCSSPageSize: true })).toString("latin1");
  return pdf.match(/\/Type\s*\/Page\b/g)?.length ?? 0;
}

describe("a hand-over", () => {
  test("says the night in a sentence, takes a note, and prints on one page", async () => {
    const notes: Record<string, unknown>[] = [];
    const { page, complaints } = await open({
      ...{ site: building, address: "/handover", handlers: night(notes), role: "operator" },
    });
    await page
      .getByRole("status", { name: "In short" })
      .getByText(
        "40 open alarms, 40 not acknowledged, 30 outages, 60 commands, 10 nodes not told or only in part.",
      )
      .waitFor();
    await page.getByText(/^Not told of branch-2: notes \(is too long to say/).waitFor();
    await page.getByText(/^branch-31 is not told: it has been away for \d/).waitFor();
    await page
      .getByText(
        "only in part: branch-32, branch-33, branch-34, branch-35, branch-36, branch-37, branch-38",
      )
      .waitFor();
    const happened = page.getByRole("region", { name: "What happened" });
    expect(await happened.getByRole("listitem").count()).toBe(8);
    await happened.getByRole("link", { name: "and 82 more" }).waitFor();
    const overrides = page.getByRole("region", { name: "Overrides in force" });
    await overrides.getByText(/^branch-2: campus\/b0\/\*\* admin, until it is released/).waitFor();
    await overrides.getByRole("link", { name: "and 20 more" }).waitFor();
    await overrides.getByText("and 2 more at branch-2").waitFor();
    await page
      .getByRole("region", { name: "Out of service" })
      .getByText(/pump is out/)
      .first()
      .waitFor();
    await page
      .getByRole("textbox", { name: "Note for the next shift" })
      .fill("<b>pump 2</b> leaks");
    await page.getByRole("button", { name: "Add the note" }).click();
    await page.getByRole("region", { name: "Notes" }).getByText("<b>pump 2</b> leaks").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/handover-wide.png`, fullPage: true });
    for (let i = 0; i < 9; i++) notes.push({ ...notes[0], id: `m${i}`, text: "long ".repeat(60) });
    await page.reload();
    await page.getByRole("link", { name: "and 5 more" }).waitFor();
    await page.getByText(/^Not told of branch-2/).waitFor();
    expect(await pagesOf(page)).toBe(1);
    await page.emulateMedia({ media: "print" });
    expect(await page.getByRole("button", { name: "Print" }).isVisible()).toBe(false);
    await page.getByText(/^Handed over:/).waitFor();
    if (shots) {
      await page.setViewportSize({ width: 720, height: 1040 });
      await page.screenshot({ path: `${shots}/handover-print.png` });
    }
    // What branch-2 refused is in the log of the browser
    expect(complaints.filter((c) => !/status of 40[34]/.test(c))).toEqual([]);
  });

  test("is read on a phone", async () => {
    const { page } = await open({
      ...{ site: building, address: "/handover", handlers: night([]), browser: phone },
    });
    await page.getByRole("region", { name: "Shelved alarms" }).waitFor();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/handover-phone.png` });
  });

  test("does not take a failed question for a quiet night", async () => {
    const { page } = await open({
      ...{ site: building, address: "/handover" },
      handlers: {
        ...night([]),
        "GET control/overrides": () => new Refusal(503, "control is away", "unavailable"),
      },
    });
    await page.getByRole("alert").getByText("control is away").waitFor();
    expect(await page.getByRole("status", { name: "In short" }).count()).toBe(0);
  });

  test("leaves out nothing of many commands, and names a node that does not answer in time", async () => {
    const held = { requester: "person:ben", path: "b/last/setpoint", value: 4, level: 8 };
    const { page } = await open({
      ...{ site: building, address: "/handover" },
      handlers: {
        ...night([]),
        "GET control/overrides": () => ({ overrides: [] }),
        "GET control/points": () => ({ points: [], next: "b/room1000/setpoint" }),
        "GET control/held": ({ query }: Call) =>
          query.has("node") ? "streamed" : { commands: [held, { ...held, requester: "agent:a" }] },
      },
    });
    const overrides = page.getByRole("region", { name: "Overrides in force" });
    await overrides.getByText(/^b\/last\/setpoint 4 at level 8.* of ben/).waitFor();
    expect(await overrides.getByRole("listitem").count()).toBe(1);
    await page.getByText("Asking the other nodes…").waitFor();
    expect(await page.getByRole("button", { name: "Print" }).isEnabled()).toBe(false);
    await page
      .getByText("Not told of branch-2: points held by hand, notes (it did not answer within 8 s)")
      .waitFor();
    await page.getByRole("button", { name: "Print", disabled: false }).waitFor();
  });
});
