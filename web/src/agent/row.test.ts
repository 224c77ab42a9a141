import { describe, expect, test } from "vitest";
import type { Agent, Bus, Peer, Process } from "../generated/api";
import { type Counted, countOf, flowsOf, healthOf, rowsOf, standing } from "./row";

const process = (name: string, state = "running") => ({ name, state }) as Process;
const identity = (name: string, more: Partial<Agent> = {}) =>
  ({ name, public: `U${name.toUpperCase()}`, grants: {}, created: "", ...more }) as Agent;
const peer = (name: string, more: Partial<Peer> = {}) =>
  ({ name, online: true, status: "good", ...more }) as Peer;

describe("rows", () => {
  test("join what is known, by name", () => {
    const rows = rowsOf([process("b")], [identity("b"), identity("a")], [peer("b"), peer("gone")]);
    expect(rows.map((r) => [r.name, Boolean(r.process), Boolean(r.peer)])).toEqual([
      ["a", false, false],
      ["b", true, true],
    ]);
  });

  test.each([
    ["running", { name: "a", process: process("a") }, "running", "good"],
    [
      "crashed",
      { name: "a", process: process("a", "backing-off") },
      "ended, starts again soon",
      "bad",
    ],
    [
      "in a state of a newer node",
      { name: "a", process: process("a", "constructor") },
      "constructor",
      "bad",
    ],
    ["of another machine", { name: "a", identity: identity("a") }, "not connected", "wait"],
    [
      "connected from there",
      { name: "a", identity: identity("a"), peer: peer("a") },
      "connected",
      "good",
    ],
    [
      "revoked",
      {
        name: "a",
        process: process("a"),
        identity: identity("a", { revoked: "2026-03-01T00:00:00Z" }),
      },
      "shut out",
      "bad",
    ],
  ])("say how an agent %s stands", (_, row, words, level) => {
    expect(standing(row)).toEqual({ words, level });
  });

  test("say what an agent tells of itself, and why", () => {
    expect(healthOf(peer("a", { status: "bad", context: "no file" }))).toEqual({
      level: "bad",
      words: "bad",
      why: "no file",
    });
    expect(healthOf(peer("a", { context: { queue: 3 } })).why).toBe('{"queue":3}');
    expect(healthOf(undefined).words).toBe("–");
  });
});

describe("flows", () => {
  const bus = (id: number, sent: number, received: number) =>
    ({
      connections: [
        {
          id,
          key: "UA",
          address: "127.0.0.1:1",
          in: { messages: sent },
          out: { messages: received },
        },
        { id: 9, key: "", address: "", in: { messages: 1 }, out: { messages: 1 } },
      ],
    }) as unknown as Bus;
  const count = (at: number, ...of: [number, number, number]): Counted =>
    countOf(bus(...of), [identity("a")], at);

  test("are what came and went in a second, as the agent sees it", () => {
    const flows = flowsOf(count(0, 1, 100, 10), count(2000, 1, 120, 40));
    expect(flows.get("a")).toEqual({ in: 15, out: 10 });
  });

  test("are not known of another connection, or before the second count", () => {
    expect(flowsOf(count(0, 1, 100, 10), count(2000, 2, 0, 0)).size).toBe(0);
    expect(flowsOf(undefined, count(0, 1, 1, 1)).size).toBe(0);
  });
});
