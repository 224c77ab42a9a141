import { describe, expect, test } from "vitest";
import type { Measured, Run } from "./calls";
import { casesOf, compareRuns, ratioWords } from "./figures";

const measured = (name: string, subject: string, median: number, more: Partial<Measured> = {}) => ({
  case: { name },
  subject,
  median,
  least: median,
  most: median,
  published: [],
  ratios: [],
  ...more,
});

describe("a ratio", () => {
  test.each([
    [3.21, "3.21 × better"],
    [0.5, "2 × worse"],
    [1.01, "the same"],
    [0, "–"],
    [Number.NaN, "–"],
  ])("of %s is told as %s", (times, words) => {
    expect(ratioWords(times)).toBe(words);
  });
});

describe("the cases of a result", () => {
  test("put peers of the same run beside ours", () => {
    const rows = casesOf([
      measured("10 devices", "voltbus", 1, {
        published: [{ label: "Pi 4", value: 9 }],
        peer: { label: "ZeroMQ", value: 5 },
        ratios: [{ against: "Pi 4", times: 9, same_run: false }],
      }),
      measured("10 devices", "RabbitMQ", 7),
      measured("20 devices", "voltbus", 2),
    ]);
    expect(rows.map((r) => [r.name, r.own?.median])).toEqual([
      ["10 devices", 1],
      ["20 devices", 2],
    ]);
    expect(rows[0]?.peers).toEqual([
      { label: "RabbitMQ", value: 7 },
      { label: "ZeroMQ", value: 5 },
    ]);
    expect(rows[0]?.ratios).toEqual([{ against: "Pi 4", times: 9, sameRun: false }]);
  });
});

describe("runs side by side", () => {
  test("have a figure for each case that they measured", () => {
    const run = (id: string, cases: Measured[]) =>
      ({
        id,
        result: { metric: { name: "", unit: "s", higher_is_better: false }, cases, skipped: [] },
      }) as unknown as Run;
    const rows = compareRuns([
      run("a", [measured("1", "voltbus", 10), measured("1", "peer", 99)]),
      run("b", [measured("1", "voltbus", 11), measured("2", "voltbus", 20)]),
    ]);
    expect(rows).toEqual([
      { name: "1", medians: [10, 11] },
      { name: "2", medians: [undefined, 20] },
    ]);
  });
});
