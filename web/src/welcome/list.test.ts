import { expect, test } from "vitest";
import { rowsOf } from "./list";

test("a list in CSV has rows by its columns", () => {
  const text = 'name,unit,description\r\nW,W,"Power, ""active"""\r\n\r\nSt,,"two\nlines"\n';
  expect(rowsOf(text)).toEqual([
    { name: "W", unit: "W", description: 'Power, "active"' },
    { name: "St", unit: "", description: "two\nlines" },
  ]);
});

test("a list that ends in the middle of a row, or has short rows, has what is there", () => {
  expect(rowsOf("name,unit\nW,")).toEqual([{ name: "W", unit: "" }]);
  expect(rowsOf("name,unit\nW\n")).toEqual([{ name: "W", unit: "" }]);
  expect(rowsOf("")).toEqual([]);
  expect(rowsOf('name\n"never closed')).toEqual([]);
});
