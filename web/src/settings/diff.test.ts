import { describe, expect, test } from "vitest";
import { diffLines, hunksOf } from "./diff";

const told = (before: string, after: string) =>
  diffLines(before, after).map(
    (l) => `${l.kind === "same" ? " " : l.kind === "added" ? "+" : "-"}${l.text}`,
  );

describe("the difference of two texts", () => {
  test.each([
    ["of the same text is nothing", "a\nb", "a\nb", [" a", " b"]],
    ["knows an added line", "a\nc", "a\nb\nc", [" a", "+b", " c"]],
    ["knows a removed line", "a\nb\nc", "a\nc", [" a", "-b", " c"]],
    ["knows a changed line", "a\nb\nc", "a\nx\nc", [" a", "-b", "+x", " c"]],
    ["finds the shortest way", "a\nb\nc\na\nb", "c\na\nb\nd", ["-a", "-b", " c", " a", " b", "+d"]],
    ["knows text from nothing", "", "a", ["-", "+a"]],
  ])("%s", (_, before, after, wanted) => expect(told(before, after)).toEqual(wanted));

  test("numbers the lines of both", () => {
    expect(diffLines("a\nb", "x\nb")).toEqual([
      { kind: "removed", text: "a", old: 1, new: 0 },
      { kind: "added", text: "x", old: 0, new: 1 },
      { kind: "same", text: "b", old: 2, new: 2 },
    ]);
  });

  test("leads from one text to the other, whatever they are", () => {
    let seed = 7;
    const random = (n: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % n;
    };
    const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n");
    for (let i = 0; i < 500; i++) {
      const [before, after] = [text(), text()];
      const lines = diffLines(before, after);
      const of = (kind: "added" | "removed") =>
        lines.filter((l) => l.kind === "same" || l.kind === kind).map((l) => l.text);
      expect(of("removed").join("\n")).toBe(before);
      expect(of("added").join("\n")).toBe(after);
    }
  });

  test("of texts without a common line is told at once", () => {
    const many = (word: string) => Array.from({ length: 3000 }, (_, i) => `${word}${i}`).join("\n");
    const lines = diffLines(many("a"), many("b"));
    expect(lines.filter((l) => l.kind === "removed").length).toBe(3000);
    expect(lines.filter((l) => l.kind === "added").length).toBe(3000);
  });
});

describe("the parts of a difference", () => {
  const numbered = (n: number, changed: number[]) =>
    Array.from({ length: n }, (_, i) => (changed.includes(i) ? `new ${i}` : `${i}`)).join("\n");
  const sizes = (changed: number[]) =>
    hunksOf(diffLines(numbered(40, []), numbered(40, changed))).map((h) => h.length);

  test.each([
    ["are none without a change", [], []],
    ["keep three lines around a change", [20], [8]],
    ["end with the text", [0, 39], [5, 5]],
    ["join when they touch", [10, 15], [14]],
    ["stay apart when they do not", [10, 30], [8, 8]],
  ])("%s", (_, changed, wanted) => expect(sizes(changed)).toEqual(wanted));
});
