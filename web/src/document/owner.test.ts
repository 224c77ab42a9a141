import { expect, test } from "vitest";
import type { Document } from "../generated/api";
import { groupsOf, ownerWords, typeFor } from "./owner";

const of = (owner: string, name: string) => ({ owner, name }) as Document;

test.each([
  ["shared", "Shared"],
  ["agent/boiler", "Agent boiler"],
  ["device/campus/b1", "Device campus/b1"],
  ["other", "other"],
  ["__proto__/x", "__proto__/x"],
])("an owner %s is called %s", (owner, words) => expect(ownerWords(owner)).toBe(words));

test("documents stand below their owners, those with all words", () => {
  const all = [of("agent/a", "config"), of("agent/a", "limits.yaml"), of("shared", "config")];
  expect(groupsOf(all, "").map((g) => [g.owner, g.documents.length])).toEqual([
    ["agent/a", 2],
    ["shared", 1],
  ]);
  expect(groupsOf(all, "CONFIG agent").map((g) => g.documents.length)).toEqual([1]);
  expect(groupsOf(all, "nothing")).toEqual([]);
});

test("the ending of a name suggests the type", () => {
  expect(typeFor("registry.CSV", "yaml")).toBe("csv");
  expect(typeFor("config", "json")).toBe("json");
  expect(typeFor("x.constructor", "yaml")).toBe("yaml");
});
