import { describe, expect, test } from "vitest";
import { cut, lineOf } from "./columns";

describe("columns", () => {
  test("unfold into times and values", () => {
    const line = lineOf({ times: [1000, 10, 2, 5, 1], values: [1, 2, 3, 4], qualities: [] });
    expect(line).toEqual({ times: [1000, 1010, 1020, 1025], values: [1, 2, 3, 4], uncertain: [] });
  });

  test("add up fractions of a millisecond exactly", () => {
    const n = 1e5;
    const { times } = lineOf({ times: [1e12, 0.001, n], values: [], qualities: [] });
    expect(times.at(-1)).toBe(1e12 + n / 1000);
  });

  test("have no value where it is bad or no number, and tell what is uncertain", () => {
    const line = lineOf({
      times: [0, 10, 5],
      values: [1, "NaN", true, 4, 5, 6],
      qualities: [
        [3, 1, "bad(timeout)"],
        [4, 1, "uncertain(clock)"],
      ],
    });
    expect(line.values).toEqual([1, null, 1, null, 5, 6]);
    expect(line.uncertain).toEqual([[40, 50]]);
  });

  test("leave out what was bad where a gap was filled", () => {
    const line = lineOf({
      times: [0, 10, 5],
      values: [1, null, 3, null, 5, null],
      qualities: [
        [1, 1, "bad(timeout)"],
        [2, 1, "good(backfilled)"],
        [3, 1, "bad(stale)"],
        [5, 1, "bad(timeout)"],
      ],
    });
    expect(line.times).toEqual([0, 20, 40, 50]);
    expect(line.values).toEqual([1, 3, 5, null]);
  });

  test("of no samples are empty", () => {
    const line = lineOf({ times: [], values: [], qualities: [] });
    expect(line).toEqual({ times: [], values: [], uncertain: [] });
  });

  test("are cut at times, the end left out", () => {
    const line = lineOf({
      times: [0, 10, 3],
      values: [1, 2, 3, 4],
      qualities: [[0, 2, "uncertain"]],
    });
    expect(cut(line, 10, 30)).toEqual({ times: [10, 20], values: [2, 3], uncertain: [[0, 20]] });
    expect(cut(line, 30, 40).uncertain).toEqual([]);
  });
});
