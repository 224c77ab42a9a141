import { expect, test } from "vitest";
import type { Commanded } from "../generated/api";
import { resultOf } from "./result";

const now = Date.parse("2026-03-09T12:00:00Z");
const done: Commanded = { id: "1", point: "a", status: "accepted", wins: true, reported: 22.5 };

test.each<[string, Partial<Commanded>, string, RegExp]>([
  ["held", { output: "held" }, "good", /^Done: the device reports 22.5 °C\.$/],
  ["differs", { output: "differs", reported: 20 }, "warn", /took 23 °C and reports 20 °C/],
  [
    "failed",
    { output: "failed", error: { kind: "timeout", message: "no answer" } },
    "bad",
    /tried again\. The device says: no answer/,
  ],
  ["unknown", { output: "unknown" }, "warn", /not known whether/],
  ["mismatch", { output: "mismatch", reported: 20 }, "warn", /took 23 °C and reports 20 °C/],
  [
    "refused by the device",
    { status: "failed", output: "failed", error: { kind: "rejected", message: "no" } },
    "bad",
    /^Failed: no\. The command is gone/,
  ],
  ["writing", { output: "writing" }, "wait", /being written/],
  ["waiting behind", { wins: false }, "wait", /waits behind/],
  ["held back", { later: "2026-03-09T12:01:00Z" }, "wait", /follows in 1 min/],
  ["waiting", { output: "waiting", reported: 20 }, "wait", /held back; the device reports 20 °C/],
  ["pending", { status: "pending" }, "wait", /second person/],
  [
    "refused",
    { status: "refused", error: { kind: "refused", message: "no", missing: "command a@8" } },
    "bad",
    /^Refused: no\. Missing: command a@8\.$/,
  ],
])("a command that is %s", (_, part, level, words) => {
  const told = resultOf({ ...done, ...part }, 23, { unit: "degC" }, now);
  expect(told).toMatchObject({ level, words: expect.stringMatching(words) });
});
