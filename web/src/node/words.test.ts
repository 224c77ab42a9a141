import { describe, expect, test } from "vitest";
import { dateTime } from "../format";
import { childStanding } from "./words";

const online = {
  ...{ since: "2026-03-09T09:00:00Z", address: "10.0.0.7:4222" },
  ...{ in: { messages: 0, bytes: 0 }, out: { messages: 0, bytes: 0 } },
};
const expires = "2026-04-08T09:00:00Z";
const when = dateTime(Date.parse(expires));

describe("how a child node stands", () => {
  test.each<[string, Parameters<typeof childStanding>[0], string, string]>([
    ["waits", { state: "pending" }, "warn", "waits for approval"],
    ["is shut out", { state: "revoked" }, "bad", "shut out"],
    ["is connected", { state: "approved", online }, "good", "connected"],
    ["is away", { state: "approved" }, "bad", "not connected"],
    ["never came", { state: "approved", expires }, "wait", `not used yet, until ${when}`],
    ["came too late", { state: "expired", expires }, "bad", `not used, expired ${when}`],
  ])("%s", (_, child, level, words) => {
    expect(childStanding(child)).toEqual({ level, words });
  });
});
