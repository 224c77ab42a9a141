import { describe, expect, test } from "vitest";
import type { ColumnSeries, Columns, PlotAnswer } from "../api";
import { iso } from "./iso";
import { Loader, type PlotSource } from "./loader";
import { TileCache, widthOf } from "./tiles";

interface Request {
  query: Record<string, string | number | readonly string[]>;
  signal: AbortSignal;
  answer(samples: [number, number][], step?: number): Promise<void>;
  fail(err: Error): Promise<void>;
}

/** A loader whose requests are answered by hand. */
function loading(now = 1e12) {
  const requests: Request[] = [];
  const source: PlotSource = {
    now: () => now,
    get: <T>(_: string, query: Request["query"], signal = new AbortController().signal) =>
      new Promise<T>((resolve, reject) => {
        const settled = () => new Promise<void>((done) => setTimeout(done));
        signal.addEventListener("abort", () => reject(new DOMException("", "AbortError")));
        requests.push({
          query,
          signal,
          answer: (samples, step = 1) => {
            const series = (query.point as string[]).map((point) => ({
              point,
              unit: "",
              kind: "float" as const,
              columns: columnsOf(samples),
              expected: null,
              present: 0,
              extra: 0,
              bad: 0,
            }));
            resolve({ series, completeness: null, step } satisfies PlotAnswer<ColumnSeries> as T);
            return settled();
          },
          fail: (err) => {
            reject(err);
            return settled();
          },
        });
      }),
  };
  const cache = new TileCache();
  return { requests, cache, loader: new Loader(source, cache) };
}

const columnsOf = (samples: [number, number][]): Columns => ({
  times: samples.flatMap(([t], i) => (i === 0 ? [t] : [t - (samples[i - 1]?.[0] ?? 0), 1])),
  values: samples.map(([, v]) => v),
  qualities: [],
});

const width = widthOf(10);

describe("the loader", () => {
  test("asks for many points at once and cuts the answer into tiles", async () => {
    const { requests, cache, loader } = loading();
    loader.want([{ points: ["a", "b"], level: 10, first: 0, last: 1 }]);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.query).toEqual({
      point: ["a", "b"],
      from: "1970-01-01T00:00:00Z",
      to: iso(2 * width),
      pixels: 512,
      format: "columns",
    });
    await requests[0]?.answer([
      [0, 1],
      [width - 1, 2],
      [width, 3],
    ]);
    expect(cache.get("a", 10, 0)?.times).toEqual([0, width - 1]);
    expect(cache.get("b", 10, 1)?.values).toEqual([3]);
    expect(loader.busy).toBe(false);
  });

  test("asks only for what is not known", async () => {
    const { requests, loader } = loading();
    loader.want([{ points: ["a"], level: 10, first: 0, last: 1 }]);
    await requests[0]?.answer([]);
    loader.want([{ points: ["a", "b"], level: 10, first: 0, last: 2 }]);
    expect(requests.slice(1).map((r) => [r.query.point, r.query.from])).toEqual([
      [["a"], iso(2 * width)],
      [["b"], iso(0)],
    ]);
  });

  test("does not ask twice for what is on its way", () => {
    const { requests, loader } = loading();
    loader.want([{ points: ["a"], level: 10, first: 0, last: 1 }]);
    loader.want([{ points: ["a"], level: 10, first: 0, last: 1 }]);
    expect(requests).toHaveLength(1);
  });

  test("cancels what nobody waits for any more, and goes on with the rest", () => {
    const { requests, loader } = loading();
    loader.want([{ points: ["a"], level: 10, first: 0, last: 1 }]);
    loader.want([{ points: ["a"], level: 12, first: 5, last: 6 }]);
    expect(requests.map((r) => r.signal.aborted)).toEqual([true, false]);
  });

  test("does not ask for the future", () => {
    const { requests, loader } = loading(width / 2);
    loader.want([{ points: ["a"], level: 10, first: 0, last: 3 }]);
    expect(requests[0]?.query.to).toBe(iso(width));
  });

  test("keeps no more than four requests under way", async () => {
    const { requests, loader } = loading();
    const points = Array.from({ length: 600 }, (_, i) => `${"long name ".repeat(10)}${i}`);
    loader.want([{ points, level: 10, first: 0, last: 0 }]);
    expect(requests).toHaveLength(4);
    await requests[0]?.answer([]);
    expect(requests).toHaveLength(5);
    const asked = requests.flatMap((r) => r.query.point as string[]);
    expect(new Set(asked).size).toBe(asked.length);
  });

  test("asks for what may be shown next when all that is shown is there", async () => {
    const { requests, loader } = loading();
    loader.want([
      { points: ["a"], level: 10, first: 0, last: 1 },
      { points: ["a"], level: 10, first: 2, last: 3, later: true },
    ]);
    expect(requests).toHaveLength(1);
    await requests[0]?.answer([]);
    expect(requests[1]?.query.from).toBe(iso(2 * width));
  });

  test("asks ahead for what is hoped for, and does not ask again when it is wanted", () => {
    const { requests, loader } = loading();
    loader.hope({ points: ["a"], level: 10, first: 0, last: 1 });
    loader.want([{ points: ["a"], level: 10, first: 0, last: 1 }]);
    expect(requests).toHaveLength(1);
    expect(requests[0]?.signal.aborted).toBe(false);
  });

  test("cancels what was hoped for in vain", () => {
    const { requests, loader } = loading();
    loader.hope({ points: ["a"], level: 10, first: 0, last: 1 });
    loader.hope({ points: ["b"], level: 10, first: 0, last: 1 });
    loader.want([{ points: ["c"], level: 10, first: 0, last: 1 }]);
    expect(requests.map((r) => [r.query.point, r.signal.aborted])).toEqual([
      [["a"], true],
      [["b"], true],
      [["c"], false],
    ]);
  });

  test("tells why the node does not answer", async () => {
    const { requests, loader } = loading();
    const told: string[] = [];
    loader.changed = (problem) => told.push(problem);
    loader.want([{ points: ["a"], level: 10, first: 0, last: 1 }]);
    await requests[0]?.fail(new TypeError("network"));
    expect(told).toEqual(["The node does not answer."]);
  });
});
