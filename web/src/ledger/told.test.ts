import { describe, expect, test } from "vitest";
import type { LedgerNode } from "../api";
import { mergedLedger } from "./told";

const account = (node: string, path: string[], state: LedgerNode["state"] = "current") => ({
  ...{ node, path, state, reason: "", ledger: "ok", stores: true, prefix: "" },
  ...{ origins: [], gaps: [] },
});

const whole = mergedLedger(undefined, {
  ...{ whole: true, ledger: { state: "ok", sentence: "Nothing was lost." } },
  nodes: [
    account("quay", ["quay"]),
    account("cellar", ["plant", "cellar"]),
    account("campus", [], "here"),
    account("plant", ["plant"]),
  ],
});
const names = ({ nodes }: { nodes?: LedgerNode[] | null }) => (nodes ?? []).map((n) => n.node);

describe("the ledger as the stream tells it", () => {
  test("has the accounts in the order of the tree, and lists where nothing was said", () => {
    expect(names(whole)).toEqual(["campus", "plant", "cellar", "quay"]);
    expect(whole).toMatchObject({ state: "ok", sentence: "Nothing was lost.", origins: [] });
  });

  test("takes over what changed, and keeps the rest as the same objects", () => {
    const old = account("quay", ["quay"], "old");
    const next = mergedLedger(whole, { ledger: { sentence: "One sample is." }, nodes: [old] });
    expect(next).toMatchObject({ state: "ok", sentence: "One sample is." });
    expect(next.nodes?.map((n) => n.state)).toEqual(["here", "current", "current", "old"]);
    expect(next.nodes?.[1]).toBe(whole.nodes?.[1]);
  });

  test("loses the accounts of nodes that are no more", () => {
    const next = mergedLedger(whole, { ledger: {}, nodes: [], gone: [["plant", "cellar"]] });
    expect(names(next)).toEqual(["campus", "plant", "quay"]);
  });

  test("is only what a whole event says, whatever was before", () => {
    const next = mergedLedger(whole, { whole: true, ledger: {}, nodes: [account("campus", [])] });
    expect(names(next)).toEqual(["campus"]);
    expect(next.sentence).toBeUndefined();
  });
});
