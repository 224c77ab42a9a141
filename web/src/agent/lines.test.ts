import { expect, test } from "vitest";
import type { ProcessLine } from "../generated/api";
import { Lines, levelOf } from "./lines";

const line = (message: string, level = "info") =>
  ({ time: "", level, stream: "stderr", message }) as ProcessLine;

test("a log shows the newest first, and keeps 500", () => {
  const lines = new Lines();
  for (let i = 0; i < 1200; i++) {
    lines.add(line(String(i)));
    if (i % 7 === 0) lines.take();
  }
  lines.take();
  expect(lines.list.length).toBe(500);
  expect([lines.list[0]?.message, lines.list[499]?.message]).toEqual(["1199", "700"]);
  expect(new Set(lines.list.map((l) => l.id)).size).toBe(500);
});

test("a log that is held counts what comes", () => {
  const lines = new Lines();
  lines.add(line("a"));
  lines.take();
  lines.held = true;
  lines.add(line("b"));
  lines.take();
  expect([lines.list.map((l) => l.message), lines.missed]).toEqual([["a"], 1]);
});

test("a level that is not known is not bad", () => {
  expect(
    ["error", "critical", "warning", "info", "__proto__"].map((l) => levelOf(line("", l))),
  ).toEqual(["bad", "bad", "warn", "wait", "wait"]);
});
