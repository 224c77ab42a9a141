import { expect, test } from "vitest";
import { filled, outdone } from "./filled";

test.each([
  ["an outage that nobody filled", ["", "bad(timeout)", "bad(timeout)", ""], []],
  [
    "one that was filled",
    ["", "bad(timeout)", filled, "bad(stale)", "bad(timeout)", filled, ""],
    [1, 3, 4],
  ],
  ["the beginning and the end of it", ["bad(timeout)", filled, "bad(timeout)"], [0, 2]],
  ["another one beside a filled one", ["bad", "", filled, "", "bad"], []],
])("a curve leaves out bad samples of %s", (_, qualities, want) => {
  expect(outdone(qualities).flatMap((is, i) => (is ? [i] : []))).toEqual(want);
});
