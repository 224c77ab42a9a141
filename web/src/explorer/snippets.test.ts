import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { curl, fileAddress, python, type Taken } from "./snippets";

const from = Date.UTC(2026, 2, 1);
const taken = (...points: string[]): Taken => ({ points, from, to: from + 86_400_000 });
const nasty = ["a'; touch /tmp/x; '", '"$(id)`id`\\', "ünï 温度\u2028x", "line\nbreak"];

describe("a file's address", () => {
  test("names points, range and format", () => {
    expect(fileAddress(taken("a/b c", "d&e"), "csv")).toBe(
      "/api/v1/export?point=a%2Fb+c&point=d%26e&from=2026-03-01T00%3A00%3A00Z&to=2026-03-02T00%3A00%3A00Z&format=csv",
    );
  });

  test("asks for texts that are no formulas, in CSV only", () => {
    expect(fileAddress(taken("a"), "csv", true)).toMatch(/&format=csv&cells=text$/);
    expect(fileAddress(taken("a"), "parquet", true)).not.toContain("cells");
  });
});

describe("the command line", () => {
  test("passes each point as one word, whatever is in its name", () => {
    const script = curl(taken(...nasty), "http://node").replace("curl", "printf '%s\\0'");
    const words = execFileSync("sh", ["-c", script], { encoding: "utf8" }).split("\0");
    for (const name of nasty) expect(words).toContain(`point=${name}`);
    expect(words).toContain("from=2026-03-01T00:00:00Z");
  });

  test("does not contain the token", () => {
    expect(curl(taken("a"), "http://node")).toContain("Bearer $VOLTBUS_TOKEN");
  });
});

describe("the Python program", () => {
  test("holds each point as a text, whatever is in its name", () => {
    const program = python(taken(...nasty), "http://node").split("answer =")[0] ?? "";
    const told = program.replace(/^import.*\n/, "import json\n");
    const out = execFileSync("python3", ["-c", `${told}\nprint(json.dumps(points))`], {
      encoding: "utf8",
    });
    expect(JSON.parse(out)).toEqual(nasty);
  });
});
