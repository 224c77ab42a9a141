import { expect, test } from "vitest";
import { draftOf, readDraft } from "./draft";

test("a rule for a point needs a limit only", () => {
  const draft = draftOf("b1/temp");
  expect(readDraft(draft, "b1/temp")).toEqual({ problem: "Write: limit." });
  expect(readDraft({ ...draft, limit: "80,5", on_delay: "60" }, "b1/temp")).toEqual({
    rule: {
      name: "b1-temp-high",
      points: ["b1/temp"],
      check: "high",
      priority: "medium",
      limit: 80.5,
      on_delay: 60,
    },
  });
});

test("what is no number is said", () => {
  expect(readDraft({ ...draftOf("p"), limit: "warm" }, "p")).toEqual({
    problem: "Limit: write a number.",
  });
});

test("a rule for many points needs a pattern and a name", () => {
  const draft = { ...draftOf(""), check: "state" as const, values: "fault, off" };
  expect(readDraft(draft, "")).toHaveProperty("problem");
  expect(readDraft({ ...draft, points: "**" }, "")).toHaveProperty("problem");
  expect(readDraft({ ...draft, points: "**", name: "off" }, "")).toEqual({
    rule: {
      name: "off",
      points: ["**"],
      check: "state",
      priority: "medium",
      values: ["fault", "off"],
    },
  });
});

test("a condition on several points is read with its points", () => {
  const draft = { ...draftOf("b1/supply"), check: "expression" as const, expression: "a < b" };
  const read = readDraft({ ...draft, inputs: "a = b1/supply\n\n b=b1/the return " }, "b1/supply");
  expect(read).toMatchObject({
    rule: { expression: "a < b", inputs: { a: "b1/supply", b: "b1/the return" } },
  });
  expect(readDraft({ ...draft, inputs: "a: b1" }, "")).toHaveProperty("problem");
});
