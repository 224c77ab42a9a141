import { describe, expect, test } from "vitest";
import type { Device, Ledger, Origin } from "../api";
import type { Concern } from "../generated/api";
import { happenings } from "./events";
import { ratesOf, remember } from "./rates";
import { troubles } from "./troubles";

const device = (path: string, more: Partial<Device> = {}): Device => ({
  path,
  driver: "modbus",
  line: "gateway",
  state: "online",
  interval: 1,
  concern: "",
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
  const concern = (more: Partial<Concern> = {}): Concern => ({
    ...{ part: "alerts", severity: "warning", subject: "b: hot", since: null, link: "/alerts" },
    sentence: "warning of b: warm",
    ...more,
  });

  test("are what the node says, in its words, with what to do about a device", () => {
    const device = concern({
      ...{ part: "devices", severity: "critical", link: "/device/a", kind: "unreachable" },
      sentence: "a does not answer: connection refused",
    });
    expect(troubles([device, concern()])).toEqual([
      {
        level: "bad",
        title: "a does not answer: connection refused",
        advice: "The device does not answer. Check its power, cable and address.",
        address: "/device/a",
      },
      { level: "warn", title: "warning of b: warm", advice: "", address: "/alerts" },
    ]);
  });

  test("lead nowhere else", () => {
    const links = ["//evil.example", "javascript:alert(1)"].map((link) => concern({ link }));
    expect(troubles(links).map((t) => t.address)).toEqual(["/", "/"]);
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
          device("c", { last_error_time: "2026-01-01T11:00:00Z", error_kind: "timeout" }),
          device("f", { last_error_time: "2026-01-01T10:30:00Z", error_kind: "rejected" }),
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
      "b has not answered since the node began to ask it",
      "a stopped answering",
      "c failed to answer; it does again since",
      "f answered a request with an error",
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
