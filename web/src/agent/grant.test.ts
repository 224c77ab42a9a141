import { describe, expect, test } from "vitest";
import type { Grants } from "../generated/api";
import { grantOf, linesOf, missing, sentence, type Typed } from "./grant";

const all: Grants = {
  publish: ["analysis/**"],
  record: ["analysis/**"],
  subscribe: ["campus/b1"],
  read: ["campus"],
  command: [{ path: "campus/b1/ahu1", level: 8, min: 10, max: 30 }],
  call: [
    { agent: "boiler", method: "set_limit", where: { device: "campus/**", limit: { min: 10 } } },
    { agent: "weather" },
  ],
  hold: [{ name: "tune", where: { mode: ["day", "night"] } }],
};

const typed: Typed = {
  kind: "publish",
  what: "a/b",
  method: "",
  level: "",
  min: "",
  max: "",
  where: "",
};

describe("grants", () => {
  test("are told in sentences", () => {
    expect(linesOf(all).map(sentence)).toEqual([
      "may send live values and messages about analysis/**",
      "may record samples of analysis/**",
      "may listen to campus/b1",
      "may read the history of campus",
      "may command campus/b1/ahu1, level 8 and less urgent, values 10 to 30",
      "may call boiler:set_limit, where device in campus/** and limit from 10",
      "may call all methods of weather",
      "may hold the capability tune, where mode one of day, night",
    ]);
    expect(linesOf({ administer: true }).map(sentence)).toEqual([
      "may do everything, also what concerns other agents",
    ]);
  });

  test("come apart into parts that can be withdrawn, and nothing is lost", () => {
    const together: Record<string, unknown[]> = {};
    for (const { grants } of linesOf(all)) {
      for (const [k, v] of Object.entries(grants)) {
        together[k] = [...(together[k] ?? []), ...(v as unknown[])];
      }
    }
    expect(together).toEqual(all);
  });

  test("lack what is wanted and not there", () => {
    const has = { ...all, publish: [], call: [{ agent: "weather" }] };
    expect(missing(all, has).map((l) => l.text)).toEqual(["analysis/**", "boiler:set_limit"]);
    expect(missing(all, { administer: true })).toEqual([]);
    expect(missing({}, {})).toEqual([]);
  });

  test.each<[string, Partial<Typed>, unknown]>([
    ["a pattern", {}, { publish: ["a/b"] }],
    [
      "a command",
      { kind: "command", level: "8", max: "30" },
      { command: [{ path: "a/b", level: 8, max: 30 }] },
    ],
    ["a call of all methods", { kind: "call", what: "boiler" }, { call: [{ agent: "boiler" }] }],
    [
      "a call within bounds",
      { kind: "call", what: "boiler", method: "set", where: '{"x":{"max":3}}' },
      { call: [{ agent: "boiler", method: "set", where: { x: { max: 3 } } }] },
    ],
    ["a named capability", { kind: "hold", what: "tune" }, { hold: [{ name: "tune" }] }],
  ])("are made from %s that was typed", (_, part, grants) => {
    expect(grantOf({ ...typed, ...part })).toEqual({ grants });
  });

  test.each<[string, Partial<Typed>, string]>([
    ["nothing", { what: " " }, "Say what it is about"],
    ["a level that is none", { kind: "command", level: "17" }, "from 1"],
    ["a bound that is none", { kind: "command", level: "8", min: "low" }, '"low" is no number'],
    ["a restriction that is no object", { kind: "call", where: "[1]" }, "as JSON"],
    ["a restriction that is no JSON", { kind: "hold", where: "{" }, "as JSON"],
  ])("say what is wrong with %s", (_, part, words) => {
    expect(JSON.stringify(grantOf({ ...typed, ...part }))).toContain(words.replaceAll('"', '\\"'));
  });
});
