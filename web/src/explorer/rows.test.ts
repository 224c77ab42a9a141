import { expect, test } from "vitest";
import { type Cell, rowsOf } from "./rows";

const cell = (time: number, value: number): Cell => ({ time, value, quality: "" });

test("a table has one row for each moment, the newest first", () => {
  const rows = rowsOf([
    [cell(1, 10), cell(3, 30)],
    [cell(3, 31), cell(2, 20)],
  ]);
  expect(rows.map((r) => [r.time, ...r.cells.map((c) => c?.value)])).toEqual([
    [3, 30, 31],
    [2, undefined, 20],
    [1, 10, undefined],
  ]);
});

test("a table of nothing has no rows", () => {
  expect(rowsOf([[], []])).toEqual([]);
});
