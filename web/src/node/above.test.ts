import { describe, expect, test } from "vitest";
import type { Parent, Uplink } from "../generated/api";
import { aboveOf, behindOf, clockWords } from "./above";

const now = Date.parse("2026-11-20T10:00:00Z");
const at = (seconds: number) => new Date(now - seconds * 1000).toISOString();

const origin = (more: Partial<Uplink["origins"][number]> = {}) => ({
  ...{ origin: "plant~a1b2c3", sequence: 7, samples: 700, sent: 0, octets: 0, acknowledged: 0 },
  ...{ left: 0, repeated: 0, dropped: 0, reason: "", ...more },
});

const uplink = (more: Partial<Uplink> = {}): Uplink => ({
  ...{ state: "connected", reason: "", rtt_ms: 2, offset_ms: 0, waiting: 0, lanes: [] },
  ...{ origins: [origin()], ...more },
});

const parent = (more: Partial<Parent> = {}): Parent => ({
  ...{ member: true, parent: "campus", addresses: ["10.0.0.1:4222"], fingerprint: "f".repeat(64) },
  ...{ name: "plant", prefix: "", state: "approved", why: "", key_fingerprint: "k", ...more },
});

const lane = (oldest?: string) => ({
  ...{ name: "normal" as const, frames: 0, octets: 0, sent: 0, back: 0 },
  ...(oldest ? { oldest } : {}),
});

describe("the parent", () => {
  test.each([
    ["a node that waits", parent({ state: "pending" }), "warn", "has not let this node in yet"],
    [
      "a node that was shut out",
      parent({ state: "revoked", why: "revoked by ann" }),
      "bad",
      "campus shut this node out: revoked by ann",
    ],
    [
      "a connection that is cut",
      parent({ uplink: uplink({ state: "connecting", reason: "no route" }) }),
      "warn",
      "No connection to campus: no route",
    ],
    [
      "a refusal",
      parent({ uplink: uplink({ state: "refused", reason: "another node has this key" }) }),
      "bad",
      "campus refuses this node: another node has this key",
    ],
    [
      "an origin that is not taken",
      parent({ uplink: uplink({ origins: [origin({ reason: "lies outside campus/b1" })] }) }),
      "bad",
      "does not take what plant~a1b2c3 recorded: lies outside campus/b1",
    ],
    [
      "a backlog",
      parent({ uplink: uplink({ waiting: 90, lanes: [lane(at(125))] }) }),
      "wait",
      "90 blocks wait, the oldest is 2 min old",
    ],
    [
      "what is just under way",
      parent({ uplink: uplink({ waiting: 1, lanes: [lane(at(1))] }) }),
      "good",
      "Connected to campus",
    ],
  ] as const)("is told of %s", (_, told, level, words) => {
    const above = aboveOf(told, now);
    expect(above.level).toBe(level);
    expect(above.text).toContain(words);
  });

  test("says what to do where somebody must do something", () => {
    expect(aboveOf(parent({ state: "pending" }), now).advice).toContain("approves it there");
    expect(aboveOf(parent({ uplink: uplink() }), now).advice).toBe("");
  });

  test("takes the age of the oldest block of both lanes", () => {
    expect(behindOf(uplink({ lanes: [lane(at(3)), lane(at(60)), lane()] }), now)).toBe(60_000);
    expect(behindOf(uplink({ lanes: [lane()] }), now)).toBe(0);
    expect(behindOf(uplink(), now)).toBe(0);
  });

  test.each([
    [400, "the clocks agree"],
    [7_200_000, "its clock is 2 h ahead of the one here"],
    [-90_000, "its clock is 1 min behind the one here"],
  ])("says what an offset of %i ms means", (offset, words) => {
    expect(clockWords(offset)).toBe(words);
  });
});
