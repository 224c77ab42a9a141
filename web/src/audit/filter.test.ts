import { describe, expect, test } from "vitest";
import {
  auditAddress,
  everything,
  fromField,
  parseFilter,
  queryOf,
  spanOf,
  toField,
} from "./filter";

describe("a filter of the audit log", () => {
  test("stands in the address and comes back from it", () => {
    const filter = {
      ...everything,
      actor: "person:*",
      text: "a & b=<c>",
      from: "-7d",
      before: 1042,
    };
    expect(parseFilter(new URL(auditAddress(filter), "http://node").search)).toEqual(filter);
  });

  test("of everything is the plain address", () => {
    expect(auditAddress(everything)).toBe("/audit");
    expect(parseFilter("")).toEqual(everything);
  });

  test.each(["-1", "1.5", "abc", "1e99", ""])("takes %j for the newest page", (before) => {
    expect(parseFilter(`?before=${before}`).before).toBe(0);
  });

  test("asks the node for nothing that does not matter", () => {
    expect(queryOf({ ...everything, action: "config.*", before: 7 })).toEqual({
      action: "config.*",
    });
  });

  test("knows its span, or that it has two ends", () => {
    expect(spanOf(everything)).toBe("");
    expect(spanOf({ ...everything, from: "-7d" })).toBe("-7d");
    expect(spanOf({ ...everything, from: "-5d" })).toBeUndefined();
    expect(spanOf({ ...everything, from: "-7d", to: "2026-03-01T00:00:00Z" })).toBeUndefined();
  });

  test("carries times through fields to the minute", () => {
    const time = "2026-03-01T08:30:00.000Z";
    expect(fromField(toField(time))).toBe(time);
    expect(toField("-7d")).toBe("");
    expect(fromField("")).toBe("");
  });
});
