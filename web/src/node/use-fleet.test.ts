import { describe, expect, test, vi } from "vitest";
import { Api } from "../api";
import { inBrowser, newest, show, stillOpen } from "../browser-testing";
import { aNode } from "./testing";
import { FleetFeed } from "./use-fleet";

const open = () => stillOpen().map((s) => s.url);
const plain = "/api/v1/events/nodes";
const full = `${plain}?ledger=true`;
const campus = { whole: true, nodes: [aNode("campus", { state: "here" })] };

/** An API whose requests are answered by their resources. */
function answering(answers: Record<string, object>) {
  const api = new Api();
  const asked: string[] = [];
  vi.spyOn(api, "get").mockImplementation(async (resource) => {
    asked.push(resource);
    return (answers[resource] ?? {}) as never;
  });
  return { feed: new FleetFeed(api), asked };
}

inBrowser();

describe("the nodes and their ledger", () => {
  test("come by one stream, which brings the ledger only while somebody reads it", async () => {
    const { feed, asked } = answering({});
    const leaveNodes = feed.listen("nodes", () => {});
    expect(open()).toEqual([plain]);
    const leaveLedger = feed.listen("ledger", () => {});
    expect(open()).toEqual([full]);
    newest().open();
    newest().tell("nodes", campus);
    newest().tell("ledger", { whole: true, ledger: { state: "ok" }, nodes: [] });
    expect(feed.now.data?.nodes[0]?.name).toBe("campus");
    expect(feed.books.data?.state).toBe("ok");
    leaveLedger();
    expect(open()).toEqual([full]);
    await vi.advanceTimersByTimeAsync(3000);
    expect(open()).toEqual([plain]);
    expect([feed.now.data?.nodes.length, feed.books.data]).toEqual([1, undefined]);
    newest().open();
    leaveNodes();
    await vi.advanceTimersByTimeAsync(3000);
    expect(open()).toEqual([]);
    expect(asked).toEqual([]);
  });

  test("are asked for plainly while there is no stream, and not any more when there is one", async () => {
    const { feed, asked } = answering({
      nodes: { nodes: [aNode("plant")], above: [], refused: [] },
      ledger: { state: "backlog" },
      session: {},
    });
    let told = 0;
    const leave = feed.listen("ledger", () => told++);
    newest().dispatchEvent(new Event("error"));
    await vi.advanceTimersByTimeAsync(0);
    expect(feed.books.data?.state).toBe("backlog");
    expect(feed.now.data?.nodes[0]?.name).toBe("plant");
    expect(told).toBe(2);
    await vi.advanceTimersByTimeAsync(600);
    newest().open();
    newest().tell("ledger", { whole: true, ledger: { state: "ok" }, nodes: [] });
    expect(feed.books.data?.state).toBe("ok");
    const before = asked.length;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked.length).toBe(before);
    expect(open()).toEqual([full]);
    leave();
    await vi.advanceTimersByTimeAsync(3000);
    expect(open()).toEqual([]);
  });

  test("give their connection back while the page is hidden, and nobody asks meanwhile", async () => {
    const { feed, asked } = answering({});
    feed.listen("ledger", () => {});
    newest().open();
    show(false);
    await vi.advanceTimersByTimeAsync(600_000);
    expect(open()).toEqual([]);
    show(true);
    expect(open()).toEqual([full]);
    expect(asked).toEqual([]);
  });
});
