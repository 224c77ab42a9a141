import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { LiveValues } from "./live";

let frames: ((at: number) => void)[] = [];

beforeEach(() => {
  frames = [];
  vi.stubGlobal("requestAnimationFrame", (f: (at: number) => void) => frames.push(f));
});
afterEach(() => vi.unstubAllGlobals());

/** Runs the frame that was asked for. */
const draw = (at: number) => {
  for (const frame of frames.splice(0)) frame(at);
};

const scan = (second: number, value: number) => ({
  device: "d",
  time: `2026-01-01T00:00:0${second}Z`,
  points: { x: value },
});

describe("live values", () => {
  test("are known by their full path, with the quality of the scan", () => {
    const live = new LiveValues();
    live.applyScan({ ...scan(1, 7), points: { x: 7, y: null }, quality: { y: "bad(device)" } });
    expect(live.get("d/x")).toMatchObject({ value: 7, quality: "good" });
    expect(live.get("d/y")).toMatchObject({ value: null, quality: "bad(device)" });
  });

  test("may have names that every object has", () => {
    const live = new LiveValues();
    const text = '{"__proto__":1,"toString":2,"constructor":3}';
    live.applyScan({ ...scan(1, 0), points: JSON.parse(text), quality: { x: "bad" } });
    expect(live.get("d/__proto__")).toMatchObject({ value: 1, quality: "good" });
    expect(live.get("d/toString")).toMatchObject({ value: 2, quality: "good" });
    expect(live.get("d/constructor")).toMatchObject({ value: 3, quality: "good" });
  });

  test("never go back in time", () => {
    const live = new LiveValues();
    live.applyScan(scan(5, 5));
    live.applyScan(scan(4, 4));
    live.applyLatest(
      [{ point: "d/x", time: "2026-01-01T00:00:03Z", value: 3, kind: "float", quality: "good" }],
      0,
    );
    expect(live.get("d/x")?.value).toBe(5);
  });

  test("leave out points that have no sample", () => {
    const live = new LiveValues();
    live.applyLatest(
      [{ point: "d/x", time: "0001-01-01T00:00:00Z", value: null, kind: "none", quality: "good" }],
      0,
    );
    expect(live.get("d/x")).toBeUndefined();
  });

  test("are told once for many scans, and at most five times a second", () => {
    const live = new LiveValues();
    const told = vi.fn();
    const stop = live.listen(told);
    for (let i = 0; i < 9; i++) live.applyScan(scan(i, i));
    expect(told).not.toHaveBeenCalled();
    draw(1000);
    expect(told).toHaveBeenCalledTimes(1);
    live.applyScan(scan(9, 9));
    draw(1100);
    expect(told).toHaveBeenCalledTimes(1);
    draw(1200);
    expect(told).toHaveBeenCalledTimes(2);
    stop();
    live.applyScan(scan(9, 10));
    draw(2000);
    expect(told).toHaveBeenCalledTimes(2);
  });
});
