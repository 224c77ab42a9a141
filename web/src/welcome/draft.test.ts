import { describe, expect, test } from "vitest";
import { configOf, type Draft, firstDraft, gapOf, pathOf } from "./draft";

const modbus: Draft = {
  ...firstDraft,
  driver: "modbus",
  address: " 10.0.0.7:502 ",
  unit: "3",
  registers: [
    { name: " supply ", table: "holding", address: "10", type: "float32", unit: "degC" },
    { name: "flame", table: "discrete", address: "0", type: "int16", unit: "" },
  ],
};

describe("a draft", () => {
  test("of a simulated device needs nothing more", () => {
    expect(gapOf(firstDraft)).toBe("");
    expect(configOf(firstDraft)).toEqual({ model: "ahu" });
  });

  test("of a Modbus device becomes a registry; bits have no other type", () => {
    expect(gapOf(modbus)).toBe("");
    expect(configOf(modbus)).toEqual({
      address: "10.0.0.7:502",
      unit: 3,
      registry: [
        { name: "supply", table: "holding", address: 10, type: "float32", unit: "degC" },
        { name: "flame", table: "discrete", address: 0, type: "bool" },
      ],
    });
  });

  test.each([
    ["without a name", { ...modbus, name: " / " }, "Give the device a name."],
    ["without an address", { ...modbus, address: " " }, "Give the address"],
    ["with a unit that is no number", { ...modbus, unit: "a" }, "The unit is a number"],
    ["with a unit that is too large", { ...modbus, unit: "256" }, "The unit is a number"],
    [
      "with a nameless register",
      { ...modbus, registers: [{ ...firstDraft.registers[0], name: "" }] },
      "Give each register a name.",
    ],
    [
      "with a register beyond the last",
      { ...modbus, registers: [{ ...firstDraft.registers[0], name: "a", address: "65536" }] },
      "The address of a is a number",
    ],
  ] as [string, Draft, string][])("%s says so", (_, draft, words) =>
    expect(gapOf(draft)).toContain(words),
  );
});

describe("the path of a device", () => {
  test.each([
    ["campus", "ahu1", "campus/ahu1"],
    [" campus/hq/ ", "/ahu1", "campus/hq/ahu1"],
    ["", "ahu1", "ahu1"],
  ])("%s and %s", (site, name, path) => expect(pathOf(site, name)).toBe(path));
});
