import { describe, expect, test } from "vitest";
import type { Device, Ledger, Origin } from "../api";
import { aNode } from "../node/testing";
import { happenings } from "./events";
import { ratesOf, remember } from "./rates";
import { absences, concerns, troubles } from "./troubles";

const device = (path: string, more: Partial<Device> = {}): Device => ({
  path,
  driver: "modbus",
  line: "gateway",
  state: "online",
  interval: 1,
  problem: "",
  last_read: "2026-01-01T12:00:00Z",
  last_error: "",
  last_error_time: null,
  error_kind: "",
  reads: 10,
  failures: 0,
  points: 4,
  reports: 0,
  lost: 0,
  misdated: 0,
  latency_ms: 3,
  ...more,
});

const silent = (path: string, more: Partial<Device> = {}) =>
  device(path, {
    state: "offline",
    last_error: "connection refused",
    last_error_time: "2026-01-01T12:00:05Z",
    error_kind: "unreachable",
    ...more,
  });

const origin = (more: Partial<Origin> = {}): Origin => ({
  origin: "node-1",
  produced: 100,
  acknowledged: 100,
  stored: 100,
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

const ledger = (more: Partial<Ledger> = {}): Ledger => ({
  state: "ok",
  reason: "",
  origins: [origin()],
  gaps: [],
  log: null,
  damaged: [],
  ...more,
});

describe("troubles", () => {
  test("there are none on a healthy site", () => {
    expect(troubles([device("a"), device("b")], ledger())).toEqual([]);
  });

  test("a silent device has advice, its own words, and a page", () => {
    expect(troubles([device("a/x"), silent("a/meter 1")], ledger())).toEqual([
      {
        level: "bad",
        title: "meter 1 does not answer",
        advice: "The device does not answer. Check its power, cable and address.",
        detail: "connection refused",
        address: "/device/a/meter%201",
      },
    ]);
  });

  test("a device that answers only in part says why, and comes after the silent ones", () => {
    const partial = device("a/d", { problem: "the device refuses 2 of 9 registers" });
    const found = troubles([partial, silent("x")], ledger());
    expect(found.map((t) => [t.level, t.title])).toEqual([
      ["bad", "x does not answer"],
      ["warn", "d answers only in part"],
    ]);
    expect(found[1]?.detail).toBe("the device refuses 2 of 9 registers");
  });

  test("a line on which all are silent is one trouble", () => {
    const found = troubles([silent("a"), silent("b"), device("c", { line: "other" })], ledger());
    expect(found.map((t) => t.title)).toEqual(["All 2 devices of line gateway are silent"]);
  });

  test("a disabled device does not keep a line from being silent", () => {
    const found = troubles(
      [silent("a"), silent("b"), device("c", { state: "disabled" })],
      ledger(),
    );
    expect(found.map((t) => t.title)).toEqual(["All 2 devices of line gateway are silent"]);
  });

  test("many silent devices are named up to a number", () => {
    const many = ["a", "b", "c", "d", "e", "f"].map((p) => silent(p));
    const found = troubles([...many, device("g")], ledger());
    expect(found.map((t) => t.title).at(-1)).toBe("2 more devices do not answer");
    expect(found.length).toBe(5);
  });

  test("a recording that stands still comes before all else", () => {
    const found = troubles([silent("a")], ledger({ state: "paused", reason: "the disk is full" }));
    expect(found.map((t) => t.title)).toEqual(["Nothing is recorded now", "a does not answer"]);
  });

  test("a store that is behind warns, and comes after what is bad", () => {
    const behind = ledger({ state: "backlog", reason: "the store is away" });
    const found = troubles([silent("a"), device("b")], behind);
    expect(found.map((t) => [t.level, t.title])).toEqual([
      ["bad", "a does not answer"],
      ["warn", "The history is behind"],
    ]);
  });

  test("losses, refusals and damage are told of in numbers", () => {
    const books = ledger({
      origins: [origin({ missing: 1 }), origin({ origin: "node-2", refused: 7 })],
      gaps: [
        { origin: "node-1", first: 7, last: 8, samples: 1, reason: "log was cut", noticed: "" },
      ],
      damaged: [{ file: "day.parquet", reason: "bad footer", noticed: "" }],
    });
    expect(troubles([], books).map((t) => [t.title, t.detail])).toEqual([
      ["1 sample of node-1 is lost", "log was cut"],
      ["7 samples of node-2 were refused", ""],
      ["1 piece of the history cannot be read", "day.parquet: bad footer"],
    ]);
  });
});

describe("happenings", () => {
  const since = Date.parse("2026-01-01T00:00:00Z");
  const none = { devices: [], ledger: ledger(), started: "", changes: [] };

  test("come from everywhere, the newest first, and none is older than asked for", () => {
    const found = happenings(
      {
        devices: [
          silent("a"),
          silent("b", { last_read: null }),
          device("c", { last_error_time: "2026-01-01T11:00:00Z" }),
          device("d", { last_error_time: "2025-12-31T11:00:00Z" }),
          device("e"),
        ],
        ledger: ledger({
          gaps: [
            {
              origin: "node-1",
              first: 7,
              last: 8,
              samples: 5,
              reason: "log was cut",
              noticed: "2026-01-01T10:00:00Z",
            },
          ],
        }),
        started: "2026-01-01T09:00:00Z",
        changes: [{ time: "2026-01-01T08:00:00Z", user: "ann" }],
      },
      since,
    );
    expect(found.map((h) => h.text)).toEqual([
      "b never answered",
      "a stopped answering",
      "c failed to answer; it does again since",
      "5 samples of node-1 went missing: log was cut",
      "The node started",
      "ann changed the configuration",
    ]);
  });

  test("without a known time are left out", () => {
    const device = silent("a", { last_read: null, last_error_time: null });
    expect(happenings({ ...none, devices: [device] }, since)).toEqual([]);
  });
});

describe("rates", () => {
  const count = (at: number, samples: number, messages = 0) => ({ at, samples, messages });

  test("need two counts", () => {
    expect(ratesOf([])).toBeUndefined();
    expect(ratesOf(remember([], count(0, 5)))).toBeUndefined();
  });

  test("are differences over time", () => {
    const counts = remember(remember([], count(1000, 100, 10)), count(6000, 350, 20));
    expect(ratesOf(counts)).toEqual({ samples: 50, messages: 2 });
  });

  test("look back a minute", () => {
    let counts = remember([], count(0, 0));
    for (let s = 5; s <= 120; s += 5) counts = remember(counts, count(s * 1000, s < 60 ? 0 : s));
    expect(counts[0]?.at).toBe(60_000);
    expect(ratesOf(counts)?.samples).toBe(1);
  });

  test("begin anew with a new process", () => {
    const counts = remember([count(0, 900), count(5000, 1000)], count(10_000, 10));
    expect(counts).toEqual([count(10_000, 10)]);
  });
});

describe("nodes below", () => {
  const now = Date.parse("2026-01-01T12:00:00Z");
  const away = (name: string) =>
    aNode(name, { state: "away", since: "2026-01-01T11:57:00Z", link_note: "no route" });

  test("that are away, or whose data is not taken, are named with what to do", () => {
    const received = { ...aNode("x").received, reason: "outside" } as never;
    const nodes = [aNode("campus", { state: "here" }), away("b1"), aNode("b2", { received })];
    expect(absences(nodes, now).map((t) => [t.level, t.title, t.detail, t.address])).toEqual([
      ["warn", "b1 is away for 3 min", "no route", "/node/b1"],
      ["warn", "b2: its data is not taken", "", "/node/b2"],
    ]);
  });

  test("are told of together if they are many", () => {
    const many = Array.from({ length: 6 }, (_, i) => away(`b${i}`));
    expect(absences(many, now).map((t) => t.title)).toEqual([
      ...["b0", "b1", "b2", "b3"].map((name) => `${name} is away for 3 min`),
      "2 more nodes are away or not taken from",
    ]);
  });
});

describe("concerns", () => {
  test("are what the health says of alerts, agents, approvals, commands and the audit log", () => {
    const part = (name: string, status: string) => ({ name, status, reason: `${name} says why` });
    const found = concerns([
      part("devices", "degraded"),
      part("alerts", "degraded"),
      part("approvals", "ok"),
      part("constructor", "degraded"),
    ]);
    expect(found).toEqual([
      {
        level: "warn",
        title: "Alerts are open",
        advice: "",
        detail: "alerts says why",
        address: "/alerts",
      },
    ]);
  });
});
