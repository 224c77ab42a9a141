import { describe, expect, test } from "vitest";
import { Messages, pretty } from "./messages";

const message = (text: string) => ({
  time: "2026-01-01T00:00:00Z",
  subject: "s",
  bytes: 1,
  text,
  cut: false,
  binary: false,
});

describe("messages", () => {
  test("stand with the newest first, and no more than can be read", () => {
    const messages = new Messages();
    for (let i = 0; i < 400; i++) messages.add(message(String(i)));
    expect(messages.list).toHaveLength(300);
    expect(messages.list[0]?.text).toBe("399");
    expect(new Set(messages.list.map((m) => m.id)).size).toBe(300);
  });

  test("stand still while they are held, and are counted", () => {
    const messages = new Messages();
    messages.add(message("a"));
    messages.held = true;
    messages.add(message("b"));
    expect(messages.list.map((m) => m.text)).toEqual(["a"]);
    expect(messages.missed).toBe(1);
  });
});

describe("a text", () => {
  test.each([
    ["JSON is set in lines", '{"a":[1,2]}', '{\n  "a": [\n    1,\n    2\n  ]\n}'],
    ["other text stays", "<b>no markup</b>", "<b>no markup</b>"],
    ["broken JSON stays", '{"a":', '{"a":'],
  ])("that is %s", (_, text, expected) => {
    expect(pretty(text)).toBe(expected);
  });

  test("that is too long is cut", () => {
    expect(pretty("x".repeat(100_000)).length).toBeLessThan(20_010);
  });
});
