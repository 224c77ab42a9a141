import { expect, test } from "vitest";
import { Problem } from "../api";
import { problemsOf } from "./setup";

const at = { file: "", line: 0, column: 0 };

test("the problems of a list are told by their rows, each of them", () => {
  const found = [
    { ...at, path: "config.registry[9].type", detail: "row 11: (b) is wrong" },
    { ...at, path: "config.unit", detail: "is out of range" },
    { ...at, path: "config.registry[0].type", detail: "row 2: (a) is wrong" },
  ];
  const err = new Problem(400, "Invalid", "the first", "invalid", [], "", found);
  expect(problemsOf(err)).toEqual([
    "config.unit: is out of range",
    "row 2, column type: (a) is wrong",
    "row 11, column type: (b) is wrong",
  ]);
  expect(problemsOf(new Problem(503, "Busy", "try again", "unavailable"))).toEqual(["try again"]);
});
