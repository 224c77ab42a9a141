import { describe, expect, test } from "vitest";
import { choose, type Item, mostOfGroup, score, wordsIn } from "./match";

const item = (over: Partial<Item>): Item => ({
  ...{ key: over.text ?? "", group: "Points", text: "", more: "", run: () => undefined },
  ...over,
});

const supply = item({ text: "Supply air", more: "campus/b1/ahu1/sat", isPath: true });
const plain = item({ text: "campus/b1/ahu1/sat_setpoint", more: "" });
const site = item({ group: "Screens", text: "Site", more: "" });
const theme = item({ group: "Actions", text: "Dark colours", more: "", also: "theme night" });

describe("what the palette finds", () => {
  test("has all words, in the text, the path or what is not shown", () => {
    expect(score(supply, wordsIn("AIR ahu1"))).toBeGreaterThan(0);
    expect(score(supply, wordsIn("air ahu2"))).toBe(0);
    expect(score(theme, wordsIn("theme"))).toBeGreaterThan(0);
  });

  test("has the closest first, and its group", () => {
    expect(choose([supply, plain, site, theme], "sat").map((i) => i.text)).toEqual([
      "Supply air",
      "campus/b1/ahu1/sat_setpoint",
    ]);
    expect(choose([supply, plain, site], "si")[0]).toBe(site);
  });

  test("is taken as text, whatever stands in it", () => {
    const odd = item({ text: "(a|b)* [x] \\d", more: "" });
    expect(choose([odd, supply], "(a|b)* \\d")).toEqual([odd]);
    expect(choose([odd, supply], "[")).toEqual([odd]);
  });

  test("is all of it in the order of the groups without a word, and no more than fit", () => {
    const many = Array.from({ length: 20 }, (_, i) => item({ text: `zone ${i}` }));
    expect(choose([...many, theme, site], "  ").map((i) => i.text)).toEqual([
      "Site",
      "Dark colours",
      ...many.slice(0, mostOfGroup).map((i) => i.text),
    ]);
    expect(choose(many, "zone").length).toBe(mostOfGroup);
  });
});
