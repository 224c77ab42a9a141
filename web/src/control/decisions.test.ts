import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { ControlFence, ControlPoint } from "../generated/api";
import { outlook } from "./outlook";

/** A request of a scenario, with what the node decided. */
interface Step {
  at: number;
  do: string;
  by: string;
  point: string;
  value: number;
  level: number;
  lease?: number;
  fence?: ControlFence;
  before: ControlPoint;
  decided: { status: string; wins?: boolean; repeat?: boolean; why?: string };
}

const file = new URL("../../../control/access/testdata/decisions.json", import.meta.url);
const scenarios = JSON.parse(readFileSync(file, "utf8")) as { name: string; steps: Step[] }[];
const start = Date.parse("2026-03-09T12:00:00Z");

/** What a form does not let through, so that the page need not foresee it. */
const beforehand = new Set(["invalid", "unknown", "range", "lease"]);

const verdicts: Record<string, string> = { refused: "refused", pending: "asks" };

/** The page foresees what becomes of a command as the node decides it; the node's tests write the file. */
describe("the page foresees what the node decides", () => {
  test.each(scenarios)("$name", ({ steps }) => {
    for (const step of steps) {
      const { decided, before } = step;
      const kept = decided?.why === "invalid" && before?.policy?.min_on; // the form offers the level
      if (
        step.do !== "set" ||
        decided.repeat ||
        step.fence ||
        (beforehand.has(decided.why ?? "") && !kept)
      )
        continue;
      const viewer = { me: step.by, role: "administrator", now: start + step.at * 1000 };
      const want = verdicts[decided.status] ?? (decided.wins ? "wins" : "waits");
      expect(outlook(before, step, viewer).verdict, JSON.stringify(step)).toBe(want);
    }
  });
});
