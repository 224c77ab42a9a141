import { describe, expect, test } from "vitest";
import { merged } from "./roster";
import { aNode } from "./testing";

const campus = aNode("campus", { state: "here" });
const plant = aNode("plant", { path: ["plant"], note: "restarted", waiting: 7 });
const cellar = aNode("cellar", { path: ["plant", "cellar"] });
const quay = aNode("quay", { path: ["quay"] });
const whole = merged(undefined, {
  whole: true,
  nodes: [quay, cellar, campus, plant],
  above: ["region"],
});
const names = (list: { nodes: { name: string }[] }) => list.nodes.map((n) => n.name);

describe("the nodes as the stream tells them", () => {
  test("stand in the order of the tree, each before its descendants", () => {
    expect(names(whole)).toEqual(["campus", "plant", "cellar", "quay"]);
    expect(whole.above).toEqual(["region"]);
    expect(whole.refused).toEqual([]);
  });

  test("take over the fields that changed, and lose those that are null", () => {
    const change = { nodes: [{ name: "plant", waiting: 9, note: null } as { name: string }] };
    const now = merged(whole, change).nodes[1];
    expect(now).toMatchObject({ name: "plant", waiting: 9, path: ["plant"] });
    expect(now).not.toHaveProperty("note");
  });

  test("are the same objects if nothing changed of them", () => {
    const next = merged(whole, { nodes: [{ name: "plant", waiting: 9 } as { name: string }] });
    expect(next.nodes[0]).toBe(whole.nodes[0]);
    expect(next.nodes[1]).not.toBe(whole.nodes[1]);
    expect(next.above).toBe(whole.above);
  });

  test("come and go, also by a name that any object has", () => {
    const odd = aNode("toString", { path: ["toString"] });
    const next = merged(whole, { nodes: [odd], gone: ["cellar", "quay"], above: [] });
    expect(names(next)).toEqual(["campus", "plant", "toString"]);
    expect(next.above).toEqual([]);
  });

  test("are only those of a whole event, whatever was before", () => {
    expect(names(merged(whole, { whole: true, nodes: [campus] }))).toEqual(["campus"]);
  });
});
