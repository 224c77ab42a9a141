import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Problem } from "../api";
import { Connection } from "./connection";

const away = new TypeError("Failed to fetch");

/** A connection to a node that answers what the test says, with what was told about it. */
function watched() {
  const told: string[] = [];
  const node = { answer: "process 1" as string | Error };
  const api = {
    health: vi.fn(async () => {
      if (node.answer instanceof Error) throw node.answer;
      return { status: "ok", started: node.answer };
    }),
  };
  const connection = new Connection(api, {
    lost: () => told.push("lost"),
    back: (restarted) => told.push(restarted ? "restarted" : "back"),
  });
  connection.start();
  return { told, node, connection, asked: api.health };
}

describe("a connection", () => {
  beforeEach(() => vi.useFakeTimers());
  afterEach(() => vi.useRealTimers());

  test("says nothing as long as the node answers", async () => {
    const { told, asked } = watched();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(told).toEqual([]);
    expect(asked.mock.calls.length).toBe(7);
  });

  test("tells of the loss and of the return", async () => {
    const { told, node } = watched();
    await vi.advanceTimersByTimeAsync(0);
    node.answer = away;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toEqual(["lost"]);
    node.answer = "process 1";
    await vi.advanceTimersByTimeAsync(500);
    expect(told).toEqual(["lost", "back"]);
  });

  test("knows a new process even if nobody saw the old one go", async () => {
    const { told, node } = watched();
    await vi.advanceTimersByTimeAsync(0);
    node.answer = "process 2";
    await vi.advanceTimersByTimeAsync(10_000);
    expect(told).toEqual(["restarted"]);
  });

  test("asks at once when another request found no node", async () => {
    const { told, node, connection } = watched();
    await vi.advanceTimersByTimeAsync(0);
    node.answer = away;
    connection.suspect();
    await vi.advanceTimersByTimeAsync(0);
    expect(told).toEqual(["lost"]);
  });

  test("asks a lost node ever more rarely, but each five seconds", async () => {
    const { node, asked } = watched();
    node.answer = away;
    await vi.advanceTimersByTimeAsync(120_000);
    const before = asked.mock.calls.length;
    await vi.advanceTimersByTimeAsync(50_000);
    expect(asked.mock.calls.length - before).toBe(10);
  });

  test("takes a refusal for an answer", async () => {
    const { told, node } = watched();
    node.answer = away;
    await vi.advanceTimersByTimeAsync(10_000);
    node.answer = new Problem(429, "Too many requests", "", "unavailable");
    await vi.advanceTimersByTimeAsync(5000);
    expect(told.at(-1)).toBe("back");
  });

  test("asks nothing after it was stopped", async () => {
    const { connection, asked } = watched();
    await vi.advanceTimersByTimeAsync(0);
    connection.stop();
    connection.suspect();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.mock.calls.length).toBe(1);
  });
});
