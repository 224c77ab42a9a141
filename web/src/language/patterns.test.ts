import { expect, test } from "vitest";
import { fitting, patternsOf, saysEnough } from "./patterns";

const patterns = patternsOf([
  "write {0}",
  "write {0} or more",
  "{0} is missing",
  "is missing",
  "{0#sample} of {1} {2?is|are} lost",
]);

const found = (text: string) =>
  [...fitting(text, patterns)].map(([p, values]) => [p.key, ...values]);

test.each([
  ["write 3", [["write {0}", "3"]]],
  [
    "write 3 or more",
    [
      ["write {0} or more", "3"],
      ["write {0}", "3 or more"],
    ],
  ],
  ["is missing", [["is missing"]]],
  ["the name is missing", [["{0} is missing", "the name"]]],
  [
    "write what is missing",
    [
      ["{0} is missing", "write what"],
      ["write {0}", "what is missing"],
    ],
  ],
  ["1,200 samples of a are lost", [["{0#sample} of {1} {2?is|are} lost", "1,200", "a", "are"]]],
  ["many samples of a are lost", []],
  ["writes 3", []],
])("%s", (text, want) => expect(found(text)).toEqual(want));

test.each([
  ["write {0}", ["3"], true],
  ["write {0}", ["campus/b1"], true],
  ["write {0}", ["other"], false],
  ["write {0}", ["to another"], false],
  ["the agent {0} may not write", ["of the other node"], true],
])("%s says enough of %s: %s", (key, left, want) => {
  const [pattern] = [...patternsOf([key]).values()].flat();
  expect(pattern && saysEnough(pattern, left)).toBe(want);
});
