import { expect, test } from "vitest";
import {
  emptyPlan,
  fieldOf,
  missing,
  nextTurn,
  type Plan,
  readPlan,
  renamed,
  timeOf,
  toldBy,
  without,
  writePlan,
} from "./plan";

const plan: Plan = {
  contacts: [
    { name: "ada", by: "email", to: "ada@example.org", from: "p@example.org", server: "m:25" },
    { name: "ben", by: "webhook", to: "https://desk.example.org" },
  ],
  steps: [{ after: 0, tell: ["on-call", "ada"] }],
  calendar: [{ who: "ada", from: "2026-03-02T08:00:00Z", to: "2026-03-09T08:00:00Z" }],
};

test("a plan is written as it was read, without what is empty", () => {
  expect(readPlan(writePlan(plan))).toEqual(plan);
  expect(
    writePlan({ ...emptyPlan(), contacts: [{ name: "a", by: "ntfy", to: "b", user: "" }] }),
  ).not.toContain("user");
  expect(readPlan("{")).toBeUndefined();
  expect(readPlan('{"contacts": 1}')).toBeUndefined();
});

test("a contact has the same name everywhere, and is gone everywhere", () => {
  const other = renamed(plan, 0, "eva");
  expect([other.steps[0]?.tell, other.calendar?.[0]?.who]).toEqual([["on-call", "eva"], "eva"]);
  const less = without(plan, 0);
  expect([less.contacts.length, less.steps[0]?.tell, less.calendar]).toEqual([1, ["on-call"], []]);
});

test("another way of telling leaves out what only the former had", () => {
  const [ada] = plan.contacts;
  expect(ada && toldBy({ ...ada, secret: "mail" }, "mqtt")).toEqual({
    name: "ada",
    by: "mqtt",
    to: "",
    secret: "mail",
  });
});

test("the next turn is of the next contact, and as long as the last", () => {
  expect(nextTurn(plan, 0)).toEqual({
    who: "ben",
    from: "2026-03-09T08:00:00.000Z",
    to: "2026-03-16T08:00:00.000Z",
  });
  expect(nextTurn({ ...plan, calendar: [] }, 3_600_001).from).toBe("1970-01-01T01:00:00.000Z");
});

test("a time goes into a field and back", () => {
  expect(timeOf(fieldOf("2026-03-02T08:00:00Z"))).toBe("2026-03-02T08:00:00.000Z");
  expect([fieldOf("never"), timeOf("")]).toEqual(["", ""]);
});

test("what is missing is said", () => {
  expect(missing(plan)).toBe("");
  expect(missing({ ...plan, contacts: [{ name: "", by: "ntfy", to: "x" }] })).toContain("name");
  expect(missing({ ...plan, contacts: [{ name: "a", by: "mqtt", to: " " }] })).toBe(
    "a: write topic.",
  );
  expect(missing({ ...plan, contacts: [{ name: "a", by: "push", to: "a" }] })).toContain("off");
  expect(missing({ ...plan, contacts: [...plan.contacts, ...plan.contacts] })).toContain("Two");
  expect(
    missing({ ...plan, calendar: [{ who: "ada", from: "2026-03-02", to: "2026-03-01" }] }),
  ).toContain("before");
});
