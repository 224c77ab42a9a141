import { describe, expect, test } from "vitest";
import type { Alarm, NodeAlarms, TimelineEvent } from "../generated/api";
import { allUntold, type Left, matters, partAlarms, parts, sentence, together } from "./sum";

const alarm = (id: string, state: Alarm["state"], priority: Alarm["priority"], since: string) =>
  ({ id, state, priority, since }) as Alarm;
const event = (kind: TimelineEvent["kind"], level: TimelineEvent["level"], who = "node") =>
  ({ kind, level, who }) as TimelineEvent;

describe("a hand-over", () => {
  test("has the most urgent alarms first, and those apart that are shelved or off", () => {
    const parted = partAlarms([
      alarm("a", "acknowledged", "low", "2026-03-01T03:00:00Z"),
      alarm("b", "unacknowledged", "high", "2026-03-01T01:00:00Z"),
      alarm("c", "unacknowledged", "high", "2026-03-01T02:00:00Z"),
      alarm("d", "shelved", "critical", "2026-03-01T02:00:00Z"),
      alarm("e", "out_of_service", "low", "2026-03-01T02:00:00Z"),
    ]);
    const ids = (list: readonly Alarm[]) => list.map((a) => a.id).join("");
    expect([parted.open, parted.shelved, parted.off].map(ids)).toEqual(["cba", "d", "e"]);
    expect(sentence(parted, [], true)).toBe("3 open alarms, 2 not acknowledged.");
  });

  test("leaves out what goes well and what nobody did", () => {
    const list = [
      event("outage", "good"),
      event("outage", "bad"),
      event("command", "info", "agent:tune"),
      event("command", "info", "person:ada"),
      event("restart", "info"),
      event("access", "info", "person:ada"),
    ];
    expect(matters(list)).toEqual([list[1], list[3], list[4]]);
    expect(sentence(partAlarms([]), list, false)).toBe(
      "No open alarm, 1 outage, 1 restart, 1 command, and more that is not counted.",
    );
  });

  test("has what other nodes leave among its own, the newest first", () => {
    const left = (node: string, ...times: string[]): Left => ({
      overrides: times.map((from) => ({ node, holder: { requester: "person:ada", from } })),
      byHand: [],
      notes: [],
    });
    const both = together(left("", "2026-03-01T01:00:00Z"), left("b", "2026-03-01T02:00:00Z", ""));
    expect(both.overrides.map((o) => o.node)).toEqual(["b", "", "b"]);
    expect(together(left("", "")).overrides).toHaveLength(1);
  });

  test("has one line for each node that does not tell everything", () => {
    const alarms = [
      { node: "c", known: false, reason: "cut off" },
      { node: "b", known: false, reason: "refused" },
      { node: "d", known: true, reason: "" },
    ] as NodeAlarms[];
    const told = allUntold([{ node: "b", message: "refused" }], alarms, [
      { node: "c", parts: [], reasons: ["away"] },
      { node: "b", parts: ["notes"], reasons: ["other"] },
      { node: "a", parts: [...parts], reasons: ["slow"] },
    ]);
    expect(told).toEqual([
      { node: "a", parts: [], reasons: ["slow"] },
      { node: "b", parts: ["alarms", "happened", "notes"], reasons: ["refused", "other"] },
      { node: "c", parts: [], reasons: ["away"] },
    ]);
    expect(sentence(partAlarms([]), [], true, told)).toBe(
      "No open alarm, 3 nodes not told or only in part.",
    );
  });
});
