import { describe, expect, test } from "vitest";
import { extent, type Frame, trace } from "./plot-paths";
import type { Curve } from "./series";

const frame: Frame = {
  left: 0,
  top: 0,
  width: 100,
  height: 100,
  from: 0,
  to: 100,
  low: 0,
  high: 10,
};

const curve = (samples: [number, number | null][], more: Partial<Curve> = {}): Curve => ({
  point: "a",
  unit: "",
  kind: "float",
  times: samples.map(([t]) => t),
  values: samples.map(([, v]) => v),
  gapMs: 0,
  expected: null,
  present: 0,
  extra: 0,
  bad: 0,
  since: Number.NEGATIVE_INFINITY,
  ...more,
});

function drawn(c: Curve, at: Partial<Frame> = {}): string[] {
  const strokes: string[] = [];
  const pen = {
    moveTo: (x: number, y: number) => strokes.push(`M${x} ${y}`),
    lineTo: (x: number, y: number) => strokes.push(`L${x} ${y}`),
  };
  trace(c, { ...frame, ...at }, pen);
  return strokes;
}

describe("a line", () => {
  test("goes from sample to sample, values upwards", () => {
    const c = curve([
      [0, 0],
      [50, 10],
      [100, 5],
    ]);
    expect(drawn(c)).toEqual(["M0 100", "L50 0", "L100 50"]);
  });

  test("is lifted where a value is missing, and a sample alone becomes a dot", () => {
    const c = curve([
      [0, 0],
      [10, 1],
      [20, null],
      [30, 5],
      [40, null],
    ]);
    expect(drawn(c)).toEqual(["M0 100", "L10 90", "M30 50", "L30.01 50"]);
  });

  test("holds its value until the next one if it is stepped", () => {
    const c = curve(
      [
        [0, 0],
        [50, 10],
      ],
      { stepped: true },
    );
    expect(drawn(c)).toEqual(["M0 100", "L50 100", "L50 0"]);
  });

  test("keeps the peaks of a column of pixels", () => {
    const c = curve([
      [10, 5],
      [10.2, 9],
      [10.4, 1],
      [10.6, 4],
      [20, 5],
    ]);
    const strokes = drawn(c);
    expect(strokes).toContain("L10 10");
    expect(strokes).toContain("L10 90");
    expect(strokes.at(-1)).toBe("L20 50");
  });

  test("is drawn with one sample beyond each edge and no more", () => {
    const c = curve(Array.from({ length: 100 }, (_, i) => [i * 10, 5] as [number, number]));
    expect(drawn(c, { from: 405, to: 425 })).toHaveLength(4);
  });
});

describe("the extent", () => {
  test("is that of the visible samples and their neighbours", () => {
    const c = curve([
      [0, 100],
      [10, 3],
      [20, 7],
      [30, null],
      [40, -100],
      [50, -200],
    ]);
    expect(extent(c, 12, 28)).toEqual([3, 7]);
  });

  test("is unknown where nothing was measured", () => {
    expect(extent(curve([[0, null]]), 0, 10)).toBeUndefined();
  });
});
