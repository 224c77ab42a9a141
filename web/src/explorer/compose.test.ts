import { describe, expect, test } from "vitest";
import type { Stretch } from "../plot";
import { compose, shadesOf, stretches } from "./compose";
import type { Piece } from "./tiles";

const point = { path: "a", unit: "kW", kind: "float" as const, interval: 1 };

const piece = (from: number, to: number, times: number[], more: Partial<Piece> = {}): Piece => ({
  from,
  to,
  step: 1,
  tile: { times, values: times.map((t) => t), uncertain: [], exact: true, asked: 1e12 },
  ...more,
});

describe("a composed curve", () => {
  test("takes from each tile what it stands for", () => {
    const wide = [0, 1000, 2000, 3000, 4000];
    const { curve } = compose(point, {
      tiles: [piece(0, 2000, [0, 1000]), piece(2000, 4000, wide)],
      complete: true,
    });
    expect(curve.times).toEqual([0, 1000, 2000, 3000]);
  });

  test("has gaps where samples are missing, but not between coarse steps", () => {
    const tiles = [piece(0, 60_000, [0, 20_000])];
    expect(compose(point, { tiles, complete: true }).curve.values).toContain(null);
    const coarse = tiles.map((p) => ({ ...p, step: 16_384, tile: { ...p.tile, exact: false } }));
    expect(compose(point, { tiles: coarse, complete: true }).curve.values).not.toContain(null);
  });
});

describe("stretches", () => {
  test("tell samples from bad ones and from none", () => {
    const p = piece(0, 60_000, [0, 1000, 2000, 3000, 30_000, 31_000]);
    const values = [1, 1, null, 1, 1, 1];
    const { curve } = compose(point, {
      tiles: [{ ...p, tile: { ...p.tile, values } }],
      complete: true,
    });
    expect(stretches(curve, 0, 60_000)).toEqual([
      { from: 0, to: 2000, kind: "good" },
      { from: 2000, to: 3000, kind: "bad" },
      { from: 3000, to: 3000, kind: "good" },
      { from: 30_000, to: 31_000, kind: "good" },
    ]);
  });

  test("tell uncertain samples from good ones", () => {
    const p = piece(0, 60_000, [0, 1000, 2000, 3000]);
    const tile = { ...p.tile, uncertain: [[1000, 2000]] as const };
    const { curve } = compose(point, { tiles: [{ ...p, tile }], complete: true });
    expect(stretches(curve, 0, 60_000)).toEqual([
      { from: 0, to: 1000, kind: "good" },
      { from: 1000, to: 2000, kind: "uncertain" },
      { from: 2000, to: 3000, kind: "good" },
    ]);
  });

  test("are cut at the window", () => {
    const { curve } = compose(point, {
      tiles: [piece(0, 10_000, [0, 1000, 2000, 3000])],
      complete: true,
    });
    expect(stretches(curve, 500, 2500)).toEqual([{ from: 500, to: 2500, kind: "good" }]);
  });
});

describe("shades", () => {
  const good = (from: number, to: number): Stretch => ({ from, to, kind: "good" });

  test("are where no curve has samples", () => {
    const shades = shadesOf(
      [
        [good(0, 10), good(50, 100)],
        [good(0, 30), good(40, 100)],
      ],
      0,
      100,
    );
    expect(shades).toEqual([{ from: 30, to: 40, kind: "gap" }]);
  });

  test("mark where a curve is bad", () => {
    const shades = shadesOf(
      [[good(0, 10), { from: 10, to: 20, kind: "bad" }, good(20, 30)]],
      0,
      30,
    );
    expect(shades).toEqual([{ from: 10, to: 20, kind: "bad" }]);
  });

  test("leave the time before the first and after the last sample alone", () => {
    expect(shadesOf([[good(40, 60)]], 0, 100)).toEqual([]);
  });
});
