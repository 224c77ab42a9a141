import { expect, test } from "vitest";
import { levelOf, openWords, worst } from "./words";

const of = (...severities: string[]) => severities.map((severity) => ({ severity })) as never[];

test("the worst alert decides", () => {
  expect(worst(of("info", "warning"))).toBe("warn");
  expect(worst(of("warning", "critical", "info"))).toBe("bad");
  expect(worst(of("info"))).toBe("wait");
});

test("a severity that is not known is taken seriously", () => {
  expect(levelOf({ severity: "__proto__" as never })).toBe("bad");
});

test.each([
  [1, "1 open alert"],
  [1200, "1,200 open alerts"],
])("%i are counted in words", (n, words) => expect(openWords(n)).toBe(words));
