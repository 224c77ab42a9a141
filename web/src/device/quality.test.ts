import { describe, expect, test } from "vitest";
import type { Point } from "../api";
import type { Live } from "../live";
import { concerns } from "./quality";

const point = (path: string): Point => ({
  path,
  kind: "float",
  unit: "",
  description: "",
  writable: false,
  device: "d",
  interval: 10,
  tags: null,
});

const now = 1_000_000;
const told = (live: Record<string, Live>) =>
  concerns(Object.keys(live).map(point), (path) => live[path], now).map((c) => [
    c.level,
    c.words,
    c.points,
  ]);

describe("the concerns about a device's points", () => {
  test("are none when all are good and fresh", () => {
    expect(told({ a: { time: now, value: 1, quality: "good" } })).toEqual([]);
  });

  test("join points of one reason, the bad before the doubtful", () => {
    expect(
      told({
        a: { time: now, value: 1, quality: "uncertain(clock)" },
        b: { time: now, value: null, quality: "bad(timeout)" },
        c: { time: now, value: null, quality: "bad(timeout)" },
      }),
    ).toEqual([
      ["bad", "no answer came in time", ["b", "c"]],
      ["warn", "the clock of the device or node jumped", ["a"]],
    ]);
  });

  test("name values that are overdue", () => {
    expect(told({ a: { time: now - 31_000, value: 1, quality: "good" } })).toEqual([
      ["warn", "no new value came when one was due", ["a"]],
    ]);
  });

  test("name points without a value", () => {
    const found = concerns([point("a")], () => undefined, now);
    expect(found.map((c) => c.words)).toEqual(["no value came yet"]);
  });

  test("keep a quality that nobody knows as it is", () => {
    expect(told({ a: { time: now, value: 1, quality: "bad(<b>)" } })[0]?.[1]).toBe("bad(<b>)");
  });
});
