import { describe, expect, test } from "vitest";
import type { ControlPoint } from "../generated/api";
import { idlePoint, slotOf } from "./testing";
import { asSet, demands, doing, holderWords, untilWords, whoWords } from "./words";

const now = Date.parse("2026-03-09T12:00:00Z");
const inMinutes = (n: number) => new Date(now + n * 60_000).toISOString();

describe("who asks", () => {
  test.each([
    ["person:ann", "you"],
    ["person:bob", "bob"],
    ["agent:tune", "the agent tune"],
    ["node", "node"],
    ["person:a:b", "a:b"],
  ])("%s is %s", (requester, words) => {
    expect(whoWords(requester, "person:ann")).toBe(words);
  });
});

test("a value is written as it was set", () => {
  expect([22.5, 0.5, 21, 1234.25, true, "auto", null].map(asSet)).toEqual([
    "22.5",
    "0.5",
    "21",
    "1,234.25",
    "on",
    "auto",
    "–",
  ]);
});

describe("an end", () => {
  test("is a time with what is left", () => {
    expect(untilWords(inMinutes(12), now)).toMatch(/^until \d\d:\d\d \(12 min\)$/);
  });

  test("of another day has its day", () => {
    expect(untilWords(inMinutes(3000), now)).toMatch(/^until 11 Mar \d\d:\d\d \(2 d 2 h\)$/);
  });

  test("that is missing is the release", () => {
    expect(untilWords(undefined, now)).toBe("until it is released");
  });
});

describe("what a point is doing", () => {
  const taken: Partial<ControlPoint> = {
    array: [slotOf("person:ann", 8, 22.5)],
    commanded: 22.5,
    held: 22.5,
    reported: 22.5,
    output: "held",
  };
  const cases: [string, Partial<ControlPoint>, string, string][] = [
    ["nobody commands", {}, "wait", "free"],
    ["the device confirmed", taken, "good", "confirmed"],
    [
      "the device reports otherwise",
      { ...taken, output: "differs", reported: 20 },
      "warn",
      "differs",
    ],
    ["could not be written", { ...taken, output: "failed", failures: 2 }, "bad", "failed"],
    ["the device has lost it", { ...taken, output: "mismatch", reported: 5 }, "bad", "mismatch"],
    ["may have been written", { ...taken, output: "unknown" }, "warn", "unknown"],
    ["is being written", { ...taken, output: "writing" }, "wait", "writing"],
    [
      "a rate holds back",
      { ...taken, output: "waiting", held: 21, later: inMinutes(1) },
      "wait",
      "waiting",
    ],
    ["somebody overrides", { overrides: [{ requester: "x" }] }, "warn", "overridden"],
    ["goes back", { reverting: true }, "wait", "goes back"],
    ["was not written yet", { ...taken, output: "idle" }, "wait", "waits"],
  ];
  test.each(cases)("that %s", (_, part, level, word) => {
    expect(doing({ ...idlePoint, ...part }, now)).toMatchObject({ level, word });
  });

  test("repeats the device's words as text", () => {
    const failed = {
      ...taken,
      output: "failed",
      failures: 1,
      failed_with: "no\u202e answer",
    } as const;
    expect(doing({ ...idlePoint, ...failed, later: inMinutes(0.1) }, now).words).toBe(
      "22.5 °C could not be written, 1 time in a row, and is tried again. It says: no\ufffd answer. It goes on in 6 s.",
    );
  });
});

test("what a point demands is a sentence each", () => {
  const policy = {
    range: { min: 18, max: 26 },
    longest: 3600,
    rate: { most: 0.5, per: 60 },
    min_on: 300,
    min_off: 90,
    interlocks: [{ guards: { min: 1 }, other: "a/damper", needs: { min: 20 } }],
    reservation: true,
    approval: true,
  };
  expect(demands(policy, "degC")).toEqual([
    "Values from 18 to 26 °C.",
    "A lease of at most 1 h: commands are renewed, or end.",
    "It follows in steps of at most 0.5 °C, one in 1 min.",
    "Once on, it stays on for 5 min.",
    "Once off, it stays off for 1 min 30 s.",
    "Values at least 1 °C only while a/damper is at least 20.",
    "Only who has reserved it commands it.",
    "A second person approves each command.",
  ]);
  expect(demands(undefined, "degC")).toEqual([]);
});

test("who stands in the way is who, what, when and why", () => {
  const held = {
    requester: "agent:tune",
    level: 8,
    path: "a/b",
    until: inMinutes(5),
    reason: "test",
  };
  expect(holderWords(held, "", now)).toMatch(
    /^the agent tune at level 8, manual operator of a\/b, until \d\d:\d\d \(5 min\): test$/,
  );
  const later = { requester: "person:ann", task: "t", from: inMinutes(60), until: inMinutes(90) };
  expect(holderWords(later, "person:ann", now)).toMatch(
    /^you with the reservation t, from 2026-03-09 \d\d:\d\d to 2026-03-09 \d\d:\d\d$/,
  );
});
