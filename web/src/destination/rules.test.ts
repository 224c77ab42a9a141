import { expect, test } from "vitest";
import type { AllRules, RuleState } from "../generated/api";
import { checkName, doneWords, keptWords, nameOf, parentOf, rulesOf, ruleWords } from "./rules";

const rule = (more: Partial<RuleState>): RuleState => ({
  ...{ sink: "search", rule: "warm", check: "range", withheld: 0, marked: 0, unjudged: 0 },
  ...more,
});

const all: AllRules = {
  rules: [rule({ withheld: 1_200, marked: 3 }), rule({ sink: "stream" })],
  kept: [
    {
      ...{ sink: "search", withheld: 1_200, kept: 1, sending: 0 },
      ...{ released: 900, discarded: 249, unkept: 50 },
    },
    {
      ...{ sink: "stream", withheld: 0, kept: 0, sending: 0 },
      ...{ released: 0, discarded: 0, unkept: 0 },
    },
    {
      ...{ sink: "parent", withheld: 5, kept: 2, sending: 2 },
      ...{ released: 1, discarded: 0, unkept: 0 },
    },
  ],
};

test("a rule says what it found", () => {
  expect(rulesOf(all, "search").map(ruleWords)).toEqual(["1,200 withheld, 3 marked"]);
  expect(ruleWords(rule({}))).toBe("nothing found");
  expect(ruleWords(rule({ check: "function", marked: 2, unjudged: 2 }))).toBe(
    "2 marked, 2 without a verdict",
  );
  expect(checkName("function")).toBe("function in Python");
});

test("what became of withheld readings adds up", () => {
  expect(keptWords(all, "search")).toBe(
    "Of 1,200 withheld readings: 1 waits for a person, 900 released, 249 discarded, 50 not kept for lack of room; the history has them.",
  );
  expect(keptWords(all, "parent")).toBe(
    "Of 5 withheld readings: 2 wait for a person, 2 on the way to the parent, 1 released.",
  );
  expect(keptWords(all, "stream")).toBe("");
  expect(keptWords(all, "nowhere")).toBe("");
});

test("the parent is what readings are withheld from, like a destination", () => {
  expect(parentOf(all)).toEqual({ name: "parent", withheld: 5, withheld_kept: 2 });
  expect(parentOf({ rules: [], kept: [] })).toBeUndefined();
  expect([nameOf("parent"), nameOf("search")]).toEqual(["the parent", "search"]);
  expect(doneWords("release", "parent", 2, 0)).toBe("2 readings released, 0 still withheld.");
  expect(doneWords("release", "search", 1, 3)).toBe("1 reading accepted, 3 still withheld.");
  expect(doneWords("discard", "search", 1, 3)).toBe("1 reading discarded, 3 still withheld.");
});
