import { describe, expect, test } from "vitest";
import { address } from "./api";
import { ancestorsOf, isUnder, nameOf, parentOf, patternFor, relativeTo } from "./path";

describe("a path", () => {
  test.each([
    ["a", "a", ""],
    ["a/b c/d.e", "d.e", "a/b c"],
    ["a//", "", "a/"],
    ["<img>/x", "x", "<img>"],
  ])("%j has the name %j and the parent %j", (path, name, parent) => {
    expect(nameOf(path)).toBe(name);
    expect(parentOf(path)).toBe(parent);
  });

  test.each([
    ["a/b", "a", true],
    ["a", "a", true],
    ["a/b", "", true],
    ["ab", "a", false],
    ["a", "a/b", false],
  ])("%j under %j: %j", (path, branch, want) => {
    expect(isUnder(path, branch)).toBe(want);
  });

  test("is shown relative to its branch, or whole if it lies elsewhere", () => {
    expect(relativeTo("a/b/c", "a")).toBe("b/c");
    expect(relativeTo("a/b/c", "")).toBe("a/b/c");
    expect(relativeTo("x/b", "a")).toBe("x/b");
  });

  test("has its ancestors from the top down", () => {
    expect(ancestorsOf("a/b/c")).toEqual(["a", "a/b"]);
    expect(ancestorsOf("a")).toEqual([]);
  });
});

describe("an address", () => {
  test("escapes whatever a name may hold", () => {
    const hostile = 'a&pattern=x#%/"><script> 温度';
    const query = address("plot", { point: [hostile, "b"], pixels: 800 }).split("?")[1];
    expect(new URLSearchParams(query).getAll("point")).toEqual([hostile, "b"]);
    expect(query).not.toMatch(/[<>" #]/);
  });

  test("has no question mark without a query", () => {
    expect(address("devices")).toBe("/api/v1/devices");
  });

  test("asks for a little more when a name holds a star", () => {
    expect(patternFor("a/b")).toBe("a/b");
    expect(patternFor("a/b*c")).toBe("a/b*c/**");
  });
});
