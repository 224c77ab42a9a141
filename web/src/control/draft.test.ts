import { describe, expect, test } from "vitest";
import type { ControlPoint } from "../generated/api";
import { type Draft, leasesOf, newDraft, newId, readDraft } from "./draft";
import { idlePoint } from "./testing";

const draft: Draft = { value: "22.5", level: 8, lease: "3600", minutes: "", reason: " cold " };
const read = (part: Partial<Draft>, point: Partial<ControlPoint> = {}) =>
  readDraft({ ...draft, ...part }, { ...idlePoint, ...point });

test("a form becomes a command", () => {
  expect(read({})).toEqual({
    command: { point: idlePoint.point, value: 22.5, level: 8, lease: 3600, reason: "cold" },
  });
  expect(read({ lease: "", reason: "" })).toEqual({
    command: { point: idlePoint.point, value: 22.5, level: 8 },
  });
});

describe("a value", () => {
  test.each<[string, string, Partial<ControlPoint>, unknown]>([
    ["may have a decimal comma", "22,5", {}, 22.5],
    ["of a switch is true or false", "false", { kind: "bool" }, false],
    ["of a text is as it stands", " 12 ", { kind: "text" }, " 12 "],
    ["of any kind is a number if it is one", "12", { kind: "none" }, 12],
    ["of any kind is a text otherwise", "auto", { kind: "none" }, "auto"],
  ])("%s", (_, value, point, want) => {
    expect(read({ value }, point)).toMatchObject({ command: { value: want } });
  });

  test.each<[string, string, Partial<ControlPoint>, RegExp]>([
    ["is missing", "", {}, /Write a number, any number/],
    ["is no number", "warm", { policy: { range: { min: 1 } } }, /Write a number, at least 1 °C/],
    ["is no whole number", "1.5", { kind: "int" }, /whole number/],
    ["is out of range", "30", { policy: { range: { min: 18, max: 26 } } }, /from 18 to 26 °C/],
    ["is not finite", "1e999", {}, /Write a number/],
    ["is no text", "", { kind: "text" }, /Write a text/],
  ])("that %s is a problem", (_, value, point, words) => {
    expect(read({ value }, point)).toEqual({ problem: expect.stringMatching(words) });
  });
});

describe("a lease", () => {
  const bounded = { ...idlePoint, policy: { longest: 7200 } };

  test("may be given in minutes", () => {
    expect(read({ lease: "other", minutes: "2,5" })).toMatchObject({ command: { lease: 150 } });
    expect(read({ lease: "other", minutes: "0" })).toHaveProperty("problem");
    expect(read({ lease: "other", minutes: "" })).toHaveProperty("problem");
  });

  test("is never longer than the point allows, and never missing then", () => {
    expect(leasesOf(bounded)).toEqual(["900", "3600", "7200", "other"]);
    expect(readDraft({ ...draft, lease: "other", minutes: "121" }, bounded)).toEqual({
      problem: "The point takes leases of at most 120 minutes.",
    });
  });

  test("is there unless somebody wants none", () => {
    expect(newDraft(idlePoint, 8)).toMatchObject({ lease: "3600", level: 8, value: "" });
    expect(newDraft({ ...idlePoint, policy: { longest: 600 } }, 8).lease).toBe("600");
    expect(leasesOf(idlePoint)).toContain("");
  });
});

test("identifiers differ", () => {
  expect(newId()).toMatch(/^web-[0-9a-f]{24}$/);
  expect(newId()).not.toBe(newId());
});
