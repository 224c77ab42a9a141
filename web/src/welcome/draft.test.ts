import { describe, expect, test } from "vitest";
import { configOf, type Draft, firstDraft, gapOf, maxList, noRegister, pathOf } from "./draft";

const modbus: Draft = {
  ...firstDraft,
  driver: "modbus",
  address: " 10.0.0.7:502 ",
  unit: "3",
  registers: [
    { ...noRegister, name: " supply ", address: "10", type: "float32", unit: "degC" },
    { ...noRegister, name: "flame", table: "discrete", address: "0", writable: true },
  ],
};

describe("a draft", () => {
  test("of a simulated device needs nothing more", () => {
    expect(gapOf(firstDraft)).toBe("");
    expect(configOf(firstDraft)).toEqual({ model: "ahu" });
  });

  test("asks an OPC UA server before it is added", () => {
    const opcua: Draft = { ...firstDraft, driver: "opcua" };
    expect(gapOf(opcua)).toMatch(/URL of the server/);
    const known: Draft = { ...opcua, endpoint: " opc.tcp://10.0.0.20:4840 " };
    expect(gapOf(known)).toMatch(/choose how to speak to it/);
    const chosen: Draft = {
      ...known,
      security: { security: "Basic256Sha256", mode: "sign", fingerprint: "2f" },
    };
    expect(gapOf(chosen)).toBe("");
    expect(configOf(chosen)).toEqual({
      endpoint: "opc.tcp://10.0.0.20:4840",
      security: "Basic256Sha256",
      mode: "sign",
      fingerprint: "2f",
      registry: [],
    });
  });

  test("of a BACnet device needs an instance or an address, and asks the device for its points", () => {
    const bacnet: Draft = { ...firstDraft, driver: "bacnet" };
    expect(gapOf(bacnet)).toMatch(/instance/);
    expect(gapOf({ ...bacnet, instance: "4194303" })).toMatch(/0 to 4194302/);
    const found: Draft = { ...bacnet, instance: "1001", local: " 10.0.0.5/24 " };
    expect(gapOf(found)).toBe("");
    expect(configOf(found)).toEqual({ local: "10.0.0.5/24", device: 1001, registry: [] });
    const fixed: Draft = { ...bacnet, address: "2001:12", instance: "7" };
    expect(configOf(fixed)).toEqual({ device: 7, address: "2001:12", registry: [] });
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

  test("says byte order, scale, offset and writable where they mean something", () => {
    const more = { scale: "0.1", offset: "-5", writable: true, byteOrder: "CDAB" };
    const draft: Draft = {
      ...modbus,
      timeout: "2.5",
      registers: [
        { ...noRegister, ...more, name: "energy", address: "1", type: "int64" },
        { ...noRegister, ...more, name: "level", table: "input", address: "2" },
        { ...noRegister, ...more, name: "pump", table: "coil", address: "3" },
      ],
    };
    expect(gapOf(draft)).toBe("");
    const row = { address: 1, table: "holding", scale: 0.1, offset: -5 };
    expect(configOf(draft)).toMatchObject({ timeout: "2.5s" });
    expect(configOf(draft).registry).toEqual([
      { ...row, name: "energy", type: "int64", byte_order: "CDAB", writable: true },
      { ...row, name: "level", address: 2, table: "input", type: "int16" },
      { name: "pump", address: 3, table: "coil", type: "bool", writable: true },
    ]);
  });

  test("of a list sends the text of the file, with its lines in one form", () => {
    const list = "\uFEFFname,address,type \r\na,1,int16\r\n\r\n";
    const draft: Draft = { ...modbus, registers: [noRegister], fromList: true, list };
    expect(gapOf(draft)).toBe("");
    expect(configOf(draft).registry).toBe("name,address,type\na,1,int16\n");
    expect(configOf({ ...draft, list: "boiler.csv" }).registry).toBe("boiler.csv\n");
  });

  test.each([
    ["with an empty list", { ...modbus, fromList: true, list: " \n" }, "Choose the file"],
    [
      "with a list that is too long",
      { ...modbus, fromList: true, list: "é".repeat(maxList / 2 + 1) },
      "longer than 512 KiB",
    ],
    ["with a time-out that is too long", { ...modbus, timeout: "61" }, "The time-out is"],
    [
      "with a scale of nothing",
      { ...modbus, registers: [{ ...noRegister, name: "a", address: "1", scale: "0" }] },
      "The scale of a",
    ],
    [
      "with an offset that is no number",
      { ...modbus, registers: [{ ...noRegister, name: "a", address: "1", offset: "x" }] },
      "The offset of a",
    ],
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
