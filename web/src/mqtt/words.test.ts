import { describe, expect, test } from "vitest";
import type { MQTTStatus } from "../generated/api";
import { facts, shownPayload } from "./words";

const calm: MQTTStatus = {
  ...{
    broker: true,
    devices: 3,
    connected: 2,
    sessions: 2,
    subscriptions: 1,
    retained: 0,
    waiting: 0,
  },
  ...{ connects: 5, refused: 0, received: 9, delivered: 4, recorded: 8, samples: 16 },
  ...{ unknown: 1, undecoded: 0, unauthorized: 0, dropped: 0, overflow: 0 },
  ...{ not_recorded: 0, not_retained: 0 },
};

describe("facts", () => {
  test("say what goes wrong only if something does", () => {
    expect(facts(calm).map(([name]) => name)).not.toContain("Not recorded");
    expect(facts({ ...calm, overflow: 2, not_recorded: 1 })).toContainEqual(["Not recorded", 3]);
  });
});

describe("shownPayload", () => {
  test("breaks JSON into lines, and leaves the rest as it is", () => {
    expect(shownPayload('{"a":[1]}')).toBe('{\n  "a": [\n    1\n  ]\n}');
    expect(shownPayload('{"a":')).toBe('{"a":');
    expect(shownPayload("21.5")).toBe("21.5");
    expect(shownPayload("")).toBe("(empty)");
  });
});
