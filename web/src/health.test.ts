import { expect, test } from "vitest";
import type { Counts } from "./generated/api";
import { adviceFor, healthOf, markOf } from "./health";

const counts = (some: Partial<Counts>): Counts => ({
  ...{ alarms: 0, alarms_here: 0, alarms_critical: 0, alarms_high: 0, alarms_medium: 0 },
  ...{ alarms_low: 0, alarms_unlisted: 0, alarms_kept: 0, rules_unjudged: 0, commands_failed: 0 },
  ...{ commands_unconfirmed: 0, commands_differing: 0, commands_pending: 0, devices: 0 },
  ...{ devices_disabled: 0, devices_starting: 0, devices_silent: 0, devices_unreadable: 0 },
  ...{ devices_partial: 0, agents: 0, nodes: 0, nodes_pending: 0, nodes_away: 0, nodes_refused: 0 },
  ...{ nodes_behind: 0, nodes_unwell: 0, destinations: 0, others: 0, ...some },
});

test("the page says what the node says", () => {
  const told = { status: "ok", level: "wait", summary: "No devices\u202e here" } as const;
  expect(healthOf(told)).toEqual({
    level: "wait",
    text: "No devices\ufffd here",
    counts: undefined,
  });
  expect(healthOf({ status: "degraded" }).level).toBe("warn");
  expect(healthOf({ status: "ok" }).level).toBe("good");
});

test("a mark counts what waits on its screen", () => {
  expect(markOf("alarms", counts({ alarms: 2, alarms_low: 2 }))).toMatchObject({
    ...{ level: "wait", count: 2, text: "2 open alarms" },
  });
  expect(markOf("alarms", counts({ alarms: 1, alarms_high: 1 }))?.level).toBe("bad");
  expect(markOf("alarms", counts({ alarms: 1, alarms_unlisted: 1 }))?.level).toBe("warn");
  const some = counts({
    commands_failed: 1,
    commands_pending: 1,
    nodes_away: 1,
    devices_silent: 1,
  });
  expect(["", "control", "nodes", "site", "agents"].map((p) => markOf(p, some)?.count)).toEqual([
    ...[undefined, 2, 1, 1, undefined],
  ]);
  expect(markOf("toString", some)).toBeUndefined();
  expect(markOf("nodes", undefined)).toBeUndefined();
});

test("a kind of error that nobody knows still gets a sentence", () => {
  expect(adviceFor("unreachable")).toContain("cable");
  expect(adviceFor("toString")).toBe("Something went wrong with this device.");
});
