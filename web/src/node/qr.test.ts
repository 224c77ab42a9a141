import { describe, expect, test } from "vitest";
import { qrPath } from "./qr";

describe("a code as a picture", () => {
  test("draws each run of dark modules once, inside the margin", () => {
    expect(qrPath(["110", "000", "101"])).toBe("M4 4h2v1h-2zM4 6h1v1h-1zM6 6h1v1h-1z");
  });

  test.each([
    ["nothing", []],
    ["rows of other lengths", ["11", "1"]],
    ["something that is no module", ["1x", "11"]],
  ])("is empty for %s", (_, rows) => {
    expect(qrPath(rows)).toBe("");
  });
});
