import { describe, expect, test } from "vitest";
import type { Invitation } from "../generated/api";
import { emptyDraft, invitationOf, mergeGrants, stateWords } from "./invitation";

const now = Date.parse("2026-11-20T10:00:00Z");

describe("an invitation", () => {
  test("asks only for what was typed", () => {
    expect(invitationOf(emptyDraft, {}, now)).toEqual({
      wanted: { approved: false, expires: "2026-11-21T10:00:00.000Z" },
    });
  });

  test("takes name, place, rights and addresses along", () => {
    const draft = {
      ...{ name: " plant ", prefix: "campus/{name}", lasts: "3600000", approved: true },
      addresses: "10.0.0.1:4222, [fe80::1]:4222",
    };
    expect(invitationOf(draft, { read: ["weather/**"] }, now)).toEqual({
      wanted: {
        ...{ name: "plant", prefix: "campus/{name}", approved: true },
        ...{ grants: { read: ["weather/**"] }, expires: "2026-11-20T11:00:00.000Z" },
        addresses: ["10.0.0.1:4222", "[fe80::1]:4222"],
      },
    });
  });

  test.each([
    ["a name with a space", { name: "my plant" }, "A name is of"],
    ["a pattern as its place", { prefix: "campus/**" }, "without *"],
    ["an address without a port", { addresses: "gate.example" }, "gate.example:4222"],
  ])("refuses %s, and says what to write", (_, part, words) => {
    const made = invitationOf({ ...emptyDraft, ...part }, {}, now);
    expect("problem" in made && made.problem).toContain(words);
  });

  test("keeps what was granted before", () => {
    expect(mergeGrants({ read: ["a"] }, { read: ["b"], publish: ["c"] })).toEqual({
      read: ["a", "b"],
      publish: ["c"],
    });
  });

  test.each([
    ["open", { expires: "2026-11-20T12:05:00Z" }, "open for 2 h 5 min more"],
    ["used", { used_by: "plant" }, "used by plant"],
    ["cancelled", {}, "cancelled"],
  ])("says that it is %s", (state, part, words) => {
    const invitation = { state, expires: "2026-11-20T09:00:00Z", ...part } as Invitation;
    expect(stateWords(invitation, now)).toBe(words);
  });
});
