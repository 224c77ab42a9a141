import { expect, test } from "vitest";
import type { Alarm, AlarmRule } from "../generated/api";
import {
  groupedByRule,
  isOpen,
  levelOf,
  openWords,
  ruleName,
  ruleWords,
  stateWords,
  waits,
  worst,
} from "./words";

test("a priority that is not known is taken seriously", () => {
  expect(levelOf({ priority: "__proto__" as never })).toBe("bad");
  expect(worst([{ priority: "low" }, { priority: "medium" }])).toBe("warn");
});

test("what is shelved is not open, and waits for nobody", () => {
  expect(isOpen({ state: "shelved" })).toBe(false);
  expect(isOpen({ state: "returned" })).toBe(true);
  expect(waits({ state: "returned" })).toBe(true);
  expect(waits({ state: "shelved" })).toBe(false);
  expect(stateWords("constructor")).toBe("constructor");
  expect(openWords(1)).toBe("1 open alarm");
});

test.each<[Partial<AlarmRule>, string]>([
  [{ check: "high", limit: 80, deadband: 2, on_delay: 60 }, "above 80, deadband 2, after 60 s"],
  [{ check: "stale" }, "no new value for three intervals"],
  [{ check: "state", values: ["fault", "off"], latching: true }, "is fault or off, latching"],
])("%o is said in words", (rule, words) =>
  expect(ruleWords({ name: "r", points: [], ...rule } as AlarmRule)).toBe(words),
);

test("the name of a rule has only what a name may have", () => {
  expect(ruleName("Büro/Zone 1/temp", "high")).toBe("b-ro-zone-1-temp-high");
  expect(ruleName("a/".repeat(80), "low")).toMatch(/^[a-z0-9][a-z0-9._-]{0,63}$/);
});

test("alarms of a rule are together", () => {
  const of = (id: string, rule: string) => ({ id, rule, agent: "" }) as Alarm;
  const groups = groupedByRule([of("1", "a"), of("2", "b"), of("3", "a")]);
  expect(groups.map((g) => `${g.name}: ${g.of.map((a) => a.id)}`)).toEqual(["a: 1,3", "b: 2"]);
});
