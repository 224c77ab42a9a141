import { describe, expect, test, vi } from "vitest";
import type { Api } from "./api";
import { lastKnown, lastValue } from "./last-known";
import { LiveValues } from "./live";

vi.stubGlobal("requestAnimationFrame", () => 1);

const now = Date.parse("2026-03-09T12:00:00Z");
const stopped = Date.parse("2026-03-07T08:15:30Z");

describe("the last value", () => {
  test("is the last sample that has one", () => {
    expect(
      lastValue([
        [1, 4],
        [2, 5],
        [3, null, "bad(unreachable)"],
      ]),
    ).toEqual({ time: 2, value: 5 });
    expect(lastValue([[1, null, "bad(timeout)"]])).toBeUndefined();
  });

  test("is found in ever smaller parts of the history, for points together", async () => {
    const asked: string[] = [];
    const get = async (resource: string, query: Record<string, unknown>) => {
      const from = Date.parse(query.from as string);
      asked.push(`${resource} ${query.step ?? ""} ${(query.point as string[]).join()}`);
      if (resource === "range")
        return {
          series: [
            {
              point: "a",
              samples: [
                [stopped, 7],
                [stopped + 1000, null],
              ],
            },
          ],
        };
      const ms = { "1d": 86_400_000, "1h": 3_600_000, "1m": 60_000 }[query.step as string] ?? 1;
      const start = Math.floor(stopped / ms) * ms;
      expect(from).toBeLessThanOrEqual(start);
      const bucket = (at: number, count: number) => ({ start: new Date(at).toISOString(), count });
      return {
        series: [
          { point: "a", buckets: [bucket(start - ms, 9), bucket(start, 3), bucket(start + ms, 0)] },
          { point: "never", buckets: [bucket(start, 0)] },
        ],
      };
    };
    const found = await lastKnown({ get } as unknown as Api, ["a", "never"], now);
    expect([...found]).toEqual([["a", { time: stopped, value: 7 }]]);
    expect(asked).toEqual(["aggregate 1d a,never", "aggregate 1h a", "aggregate 1m a", "range  a"]);
  });

  test("stays when a device falls silent, and goes when it answers again", () => {
    const live = new LiveValues();
    const scan = (second: number, value: number | null, quality: string) =>
      live.applyScan({
        ...{ device: "d", time: `2026-01-01T00:00:0${second}Z`, points: { x: value } },
        quality: { x: quality },
      });
    scan(1, 7, "good");
    expect(live.lastKnown("d/x")).toBeUndefined();
    scan(2, null, "bad(unreachable)");
    scan(3, null, "bad(unreachable)");
    expect(live.lastKnown("d/x")).toEqual({ time: Date.parse("2026-01-01T00:00:01Z"), value: 7 });
    scan(4, 8, "good");
    expect(live.lastKnown("d/x")).toBeUndefined();
    scan(5, null, "released");
    expect(live.lastKnown("d/x")).toBeUndefined();
  });

  test("is looked for where nothing was seen before", () => {
    const live = new LiveValues();
    live.applyScan({
      ...{ device: "d", time: "2026-01-01T00:00:01Z", points: { x: null, y: 1 } },
      quality: { x: "bad(unreachable)" },
    });
    expect(live.lacksValue("d/x")).toBe(true);
    expect(live.lacksValue("d/y")).toBe(false);
    live.applyKnown("d/x", { time: 5, value: 3 });
    live.applyKnown("d/x", { time: 4, value: 2 });
    expect(live.lacksValue("d/x")).toBe(false);
    expect(live.lastKnown("d/x")).toEqual({ time: 5, value: 3 });
  });
});
