import { describe, expect, test } from "vitest";
import type { Ledger, Origin } from "../api";
import { follows, inMemory, meaningOf, sentence } from "./words";

const origin = (more: Partial<Origin> = {}): Origin => ({
  origin: "node",
  produced: 1000,
  acknowledged: 1000,
  stored: 1000,
  refused: 0,
  missing: 0,
  repeated: 0,
  left_out: 0,
  own: true,
  backlog_blocks: 0,
  backlog_samples: 0,
  balanced: true,
  ...more,
});

const ledger = (origins: Origin[], more: Partial<Ledger> = {}): Ledger => ({
  state: "ok",
  reason: "",
  origins,
  gaps: [],
  log: null,
  damaged: [],
  ...more,
});

describe("the sentence", () => {
  test.each([
    ["all is stored", [origin()], "good", "All 1,000 samples are on disk, none is lost."],
    [
      "some wait",
      [origin({ stored: 900, backlog_samples: 100 })],
      "good",
      "All 1,000 samples are on disk, none is lost, 100 of them still on the way into the history.",
    ],
    [
      "some are lost",
      [origin({ stored: 990, missing: 10 }), origin()],
      "bad",
      "10 of 2,000 samples are lost. The gaps below say whose and why.",
    ],
    [
      "some were refused",
      [origin({ acknowledged: 999, stored: 999, refused: 1 })],
      "warn",
      "1 of 1,000 samples were refused: they were never recorded, and who sent them was told so.",
    ],
    ["nothing came", [origin({ produced: 0 })], "wait", "Nothing was produced yet."],
    [
      "a figure does not follow",
      [origin({ balanced: false })],
      "warn",
      "The books do not balance yet: a figure is still on its way.",
    ],
  ] as const)("tells that %s", (_, origins, level, text) => {
    expect(sentence(ledger([...origins]))).toEqual({ level, text });
  });

  test("tells first that nothing is recorded at all", () => {
    const told = sentence(ledger([origin()], { state: "paused", reason: "the disk is full" }));
    expect(told).toEqual({ level: "bad", text: "Recording is paused: the disk is full" });
  });
});

describe("the figures of an origin", () => {
  test("follow from each other with what is in memory, refused, missing and waiting", () => {
    const o = origin({
      acknowledged: 900,
      refused: 40,
      stored: 700,
      missing: 50,
      backlog_samples: 150,
    });
    expect(inMemory(o)).toBe(60);
    expect(follows(o)).toEqual({ acknowledged: true, stored: true });
  });

  test("do not follow where samples went unseen", () => {
    expect(follows(origin({ stored: 999 })).stored).toBe(false);
    expect(follows(origin({ acknowledged: 1001 })).acknowledged).toBe(false);
  });
});

test("the reason of a gap is explained, whatever its name", () => {
  expect(meaningOf("dropped")).toContain("log was full");
  expect(meaningOf("__proto__")).toBe("");
});
