import { describe, expect, test } from "vitest";
import type { ControlTask, NewTask } from "../generated/api";
import { contest, readTask, type Typed } from "./reservation";

const now = Date.parse("2026-03-09T12:00:00Z");
const at = (hours: number) => new Date(now + hours * 3_600_000).toISOString();
const typed: Typed = {
  task: "fan test",
  paths: "site/ahu\n\n site/zone ",
  from: "",
  to: at(2),
  priority: "low",
  reason: "",
};

describe("a form", () => {
  test("becomes windows of the same time", () => {
    expect(readTask(typed, now)).toEqual({
      task: {
        task: "fan test",
        priority: "low",
        windows: [
          { path: "site/ahu", to: at(2) },
          { path: "site/zone", to: at(2) },
        ],
      },
    });
  });

  test.each<[string, Partial<Typed>, RegExp]>([
    ["without a name", { task: " " }, /name/],
    ["without a path", { paths: "\n" }, /what to reserve/],
    ["without an end", { to: "" }, /until when/],
    ["whose end is over", { to: at(-1) }, /over already/],
    ["that ends before it begins", { from: at(3) }, /after the beginning/],
    ["with a path below another", { paths: "site\nsite/ahu" }, /site\/ahu lies below/],
  ])("%s is a problem", (_, part, words) => {
    expect(readTask({ ...typed, ...part }, now)).toEqual({
      problem: expect.stringMatching(words),
    });
  });
});

describe("a reservation", () => {
  const there = (part: Partial<ControlTask>, from = 1, to = 2): ControlTask => ({
    task: "balance",
    requester: "person:ann",
    priority: "low",
    reason: "",
    windows: [{ path: "site/ahu", from: at(from), to: at(to) }],
    active: [],
    started: false,
    preempted: false,
    ...part,
  });
  const wanted = (part: Partial<NewTask>, path = "site", from = 0, to = 3): NewTask => ({
    task: "mine",
    windows: [{ path, from: at(from), to: at(to) }],
    ...part,
  });

  test("meets what lies below and above it", () => {
    expect(contest([there({})], wanted({}), now).standing).toHaveLength(1);
    expect(contest([there({})], wanted({}, "site/ahu/fan"), now).standing).toHaveLength(1);
    expect(contest([there({})], wanted({}, "site/ahu2"), now).standing).toEqual([]);
  });

  test("does not meet a window that it touches", () => {
    expect(contest([there({})], wanted({}, "site", 0, 1), now).standing).toEqual([]);
    expect(contest([there({})], wanted({}, "site", 2, 3), now).standing).toEqual([]);
  });

  test("without a beginning begins now", () => {
    const task = wanted({ windows: [{ path: "site", to: at(1.5) }] });
    expect(contest([there({})], task, now).standing).toHaveLength(1);
  });

  test.each<[string, Partial<ControlTask>, boolean]>([
    ["low that has not begun gives way", {}, true],
    ["low that has begun stands", { started: true }, false],
    ["low-preempt gives way always", { priority: "low-preempt", started: true }, true],
    ["high stands", { priority: "high" }, false],
    ["one that ends soon gives way", { started: true, preempted: true }, true],
  ])("of priority high: %s", (_, part, gives) => {
    const { standing, yielding } = contest([there(part)], wanted({ priority: "high" }), now);
    expect([standing.length, yielding.length]).toEqual(gives ? [0, 1] : [1, 0]);
  });

  test("of a name that is taken says so", () => {
    expect(contest([there({ task: "mine" }, 10, 11)], wanted({}), now).isNamed).toBe(true);
  });
});
