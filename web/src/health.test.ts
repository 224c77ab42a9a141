import { describe, expect, test } from "vitest";
import type { Device, Ledger, Origin } from "./api";
import type { Concern } from "./generated/api";
import { adviceFor, health } from "./health";

const device = (name: string, state: string): Device => ({
  path: `site/${name}`,
  driver: "sim",
  line: "sim",
  state,
  interval: 1,
  concern: "",
  problem: "",
  last_read: null,
  last_error: "",
  last_error_time: null,
  error_kind: "",
  reads: 0,
  failures: 0,
  points: 1,
  reports: 0,
  lost: 0,
  misdated: 0,
  latency_ms: 0,
});

const origin = (stored: number, more: Partial<Origin> = {}): Origin => ({
  origin: "node",
  produced: stored,
  acknowledged: stored,
  stored,
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

const ledger = (...origins: Origin[]): Ledger => ({
  state: "ok",
  reason: "",
  origins,
  gaps: null,
  log: null,
  damaged: null,
});

const concern = (part: Concern["part"], severity: Concern["severity"]): Concern => ({
  ...{ part, severity, subject: "", sentence: "it fails", since: null, link: "/" },
});

const seven = Array.from({ length: 7 }, (_, i) => device(`d${i}`, "online"));

describe("the health sentence", () => {
  test.each<[string, Device[], Ledger, string, string]>([
    [
      "all is well",
      seven,
      ledger(origin(12_000), origin(345)),
      "good",
      "All 7 devices answer; 12,345 samples recorded, none lost",
    ],
    [
      "there are two devices",
      seven.slice(0, 2),
      ledger(origin(1)),
      "good",
      "Both devices answer; 1 sample recorded, none lost",
    ],
    [
      "one device is silent",
      [...seven, device("<b>", "offline")],
      ledger(origin(1)),
      "bad",
      "1 of 8 devices does not answer (<b>); 1 sample recorded, none lost",
    ],
    [
      "many are silent",
      seven.map((d) => ({ ...d, state: "hung" })),
      ledger(origin(0)),
      "bad",
      "7 of 7 devices do not answer (d0, d1, d2 and 4 more); 0 samples recorded, none lost",
    ],
    [
      "it just started",
      [device("a", "starting"), device("b", "online")],
      ledger(),
      "wait",
      "1 of 2 devices not asked yet; 0 samples recorded, none lost",
    ],
    [
      "a disabled device is no trouble",
      [device("a", "disabled"), device("b", "online")],
      ledger(),
      "good",
      "The only device answers; 0 samples recorded, none lost",
    ],
    [
      "there are no devices",
      [],
      ledger(),
      "wait",
      "No devices are configured; 0 samples recorded, none lost",
    ],
    [
      "the devices are at other nodes",
      [],
      ledger(origin(0), origin(9, { own: false })),
      "good",
      "All devices are at child nodes; 9 samples recorded, none lost",
    ],
    [
      "samples are lost",
      seven,
      ledger(origin(10, { missing: 3, balanced: false })),
      "bad",
      "All 7 devices answer; 10 samples recorded, 3 lost",
    ],
    [
      "samples were refused",
      seven,
      ledger(origin(10, { refused: 2 })),
      "warn",
      "All 7 devices answer; 10 samples recorded, 2 refused",
    ],
    [
      "the books do not balance",
      seven,
      ledger(origin(10, { balanced: false })),
      "warn",
      "All 7 devices answer; 10 samples recorded, the books do not balance",
    ],
    [
      "recording stopped",
      seven,
      { ...ledger(origin(10)), state: "paused", reason: "the disk is full" },
      "bad",
      "All 7 devices answer; recording is paused: the disk is full",
    ],
    [
      "the node has no history yet",
      seven,
      { ...ledger(), origins: null },
      "good",
      "All 7 devices answer; 0 samples recorded, none lost",
    ],
  ])("when %s", (_, devices, books, level, text) => {
    const told: Concern[] = [];
    if (level === "bad") told.push(concern("devices", "warning"), concern("devices", "critical"));
    if (level === "warn") told.push(concern("devices", "warning"));
    expect(health(devices, books, told)).toEqual({ level, text });
  });

  test("counts what else is not well", () => {
    const told = [concern("alerts", "critical"), concern("agents", "warning")];
    expect(health(seven, ledger(), told)).toEqual({
      level: "bad",
      text: "All 7 devices answer; 0 samples recorded, none lost; 2 other concerns",
    });
  });
});

test("a kind of error that nobody knows still gets a sentence", () => {
  expect(adviceFor("unreachable")).toContain("cable");
  expect(adviceFor("toString")).toBe("Something went wrong with this device.");
});

test("a device that answers only with errors is not said to answer in part", () => {
  const useless = { ...device("boiler", "online"), problem: "answers only with device failure" };
  const concern: Concern = {
    part: "registers",
    severity: "critical",
    subject: useless.path,
    text: "site/boiler answers, but none of its points can be read",
    link: "",
  } as unknown as Concern;
  const ledger = { state: "recording", reason: "", origins: [origin(1)] } as unknown as Ledger;
  expect(health([useless, device("meter", "online")], ledger, [concern])).toEqual({
    level: "bad",
    text: "1 of 2 devices gives no point (boiler); 1 sample recorded, none lost",
  });
});

test("destinations that are behind or refuse readings are counted by themselves", () => {
  const away = (name: string): Concern => ({
    ...{ part: "state", severity: "warning", subject: "sinks", since: null },
    ...{ sentence: `Nothing is sent to the destination "${name}".`, link: "/destinations" },
  });
  const ledger: Ledger = { origins: [], gaps: [], log: null, damaged: [], state: "ok", reason: "" };
  const says = (...list: Concern[]) => health([], ledger, list).text;
  expect(says(away("a"))).toMatch(/; 1 destination is behind or refuses readings$/);
  expect(says(away("a"), away("b"))).toMatch(/; 2 destinations are behind or refuse readings$/);
});
