import { describe, expect, test } from "vitest";
import type { Alarm, TimelineEvent } from "../generated/api";
import { matters, partAlarms, sentence } from "./sum";

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
});
