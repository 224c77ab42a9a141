import { describe, expect, test } from "vitest";
import { numeral, wrongNumber } from "./number";

describe("a typed number", () => {
  test.each([
    ["21,5", "de", 21.5],
    ["21.5", "de", 21.5],
    ["21,5", "en-US", 21.5],
    ["1,500", "de", 1.5],
    ["1.500", "en-US", 1.5],
    ["0.500", "de", 0.5],
    ["-3,25", "fr", -3.25],
    ["1500", "es", 1500],
    ["1500,125", "es", 1500.125],
    ["1e3", "de", 1000],
  ])("%s in %s is %d", (text, tag, want) => expect(numeral(text, tag)).toBe(want));

  test.each([
    ["1.500", "de"],
    ["1,500", "en-US"],
    ["12.345", "fr"],
    ["1.234,5", "de"],
    ["1,234.5", "en-US"],
    ["1.234.567", "de"],
    ["", "de"],
    ["warm", "de"],
  ])("%s in %s is none, since it may be meant otherwise", (text, tag) =>
    expect(numeral(text, tag)).toBeNaN(),
  );

  test("that may be meant in two ways is answered with both", () => {
    expect(wrongNumber("1.500", "No.", "de")).toBe(
      "“1.500” may be meant in two ways: write 1500, or 1,500.",
    );
    expect(wrongNumber("warm", "No.", "de")).toBe("No.");
  });
});
