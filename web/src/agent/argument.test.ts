import { expect, test } from "vitest";
import { argumentsOf, parsed } from "./argument";

test.each([
  ["12.5", "float", 12.5],
  ["true", "bool", true],
  ['{"a":1}', "", { a: 1 }],
  ["campus/b1", "", "campus/b1"],
  ["12", "str", "12"],
  ["null", "str | None", null],
  ["", "str", ""],
])("%j of type %s is %j", (typed, type, value) => expect(parsed(typed, type)).toEqual(value));

test("arguments go by name, or by place where they must, and empty ones stay away", () => {
  const params = [
    { name: "place", type: "int", kind: "positional" },
    { name: "device", type: "str", kind: "both" },
    { name: "limit", type: "float", kind: "keyword", default: 15 },
    { name: "more", type: "", kind: "kwargs" },
  ];
  const typed = { place: "3", device: "b1", limit: "", more: "x" };
  const { args, kwargs } = argumentsOf(params, typed);
  expect([args, { ...kwargs }]).toEqual([[3], { device: "b1" }]);
});

test("a name that objects have by themselves is a name", () => {
  const { kwargs } = argumentsOf([{ name: "__proto__", type: "", kind: "both" }], {
    ["__proto__"]: "1",
  });
  expect(Object.keys(kwargs)).toEqual(["__proto__"]);
});
