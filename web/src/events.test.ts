import { describe, expect, test, vi } from "vitest";
import { Problem } from "./api";
import { inBrowser, newest, Source, show, stillOpen } from "./browser-testing";
import { Events, type Link } from "./events";

function follow(probe: () => Promise<unknown>) {
  const links: Link[] = [];
  const api = { session: async () => ({ user: "ann", role: "viewer" }) as never };
  const events = new Events(api, "/stream", {}, (link) => links.push(link), probe);
  events.open();
  newest().open();
  return { events, links };
}

inBrowser();

describe("a stream", () => {
  test("gives its connection back while the page is hidden for long, and has one again when it is shown", async () => {
    const { events, links } = follow(async () => {});
    show(false);
    await vi.advanceTimersByTimeAsync(20_000);
    show(true);
    await vi.advanceTimersByTimeAsync(60_000);
    expect([Source.all.length, stillOpen().length]).toEqual([1, 1]);
    show(false);
    await vi.advanceTimersByTimeAsync(600_000);
    expect([Source.all.length, stillOpen().length]).toEqual([1, 0]);
    expect(links.at(-1)).toMatchObject({ state: "lost", why: "" });
    show(true);
    expect([Source.all.length, stillOpen().length]).toEqual([2, 1]);
    newest().open();
    expect(links.at(-1)).toEqual({ state: "live" });
    events.close();
    show(false);
    show(true);
    expect(stillOpen().length).toBe(0);
  });

  test("says what is missing when another node refuses it, and asks no more", async () => {
    const missing = "call node:log";
    const refuse = async () => {
      throw new Problem(403, "Not allowed", "plant says no", "refused", [], missing);
    };
    const { links } = follow(refuse);
    newest().fail();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(links.at(-1)).toEqual({ state: "refused", why: "plant says no", missing });
    expect([Source.all.length, stillOpen().length]).toEqual([1, 0]);
  });

  test("that is refused while it goes on says so, too", async () => {
    const { links } = follow(async () => {});
    newest().fail({ detail: "plant says no", missing: "subscribe ahu1" });
    newest().fail();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(links.at(-1)).toMatchObject({ state: "refused", missing: "subscribe ahu1" });
    expect(Source.all.length).toBe(1);
  });

  test("that breaks off as soon as it is open is opened every few seconds, not without pause", async () => {
    follow(async () => {});
    const began = Date.now();
    for (let known = Source.all.length; known < 12; known = Source.all.length) {
      newest().open();
      newest().fail();
      while (Source.all.length === known) await vi.advanceTimersByTimeAsync(100);
    }
    expect(Date.now() - began).toBeGreaterThan(35_000);
  });
});
