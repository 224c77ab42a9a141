import { expect, test } from "vitest";
import type { AllRules, RuleState } from "../generated/api";
import { checkName, keptWords, rulesOf, ruleWords } from "./rules";

const rule = (more: Partial<RuleState>): RuleState => ({
  ...{ sink: "search", rule: "warm", check: "range", withheld: 0, marked: 0, unjudged: 0 },
  ...more,
});

const all: AllRules = {
  rules: [rule({ withheld: 1_200, marked: 3 }), rule({ sink: "stream" })],
  kept: [
    { ...{ sink: "search", withheld: 1_200, kept: 1, released: 900 }, discarded: 249, unkept: 50 },
    { ...{ sink: "stream", withheld: 0, kept: 0, released: 0 }, discarded: 0, unkept: 0 },
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
  expect(keptWords(all, "stream")).toBe("");
  expect(keptWords(all, "nowhere")).toBe("");
});
