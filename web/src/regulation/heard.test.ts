import { expect, test } from "vitest";
import { type Group, hear, leaderOf, present, stacked } from "./heard";

const time = "2026-07-01T00:00:00Z";
const scan = (device: string, points: Record<string, number | string | boolean | null>) => ({
  device,
  time,
  points,
});

function member(leads: boolean, term: number) {
  return { agent: "r", leads, leader: "a", term, silence: 50 };
}

test("members, units and decisions come together in their group", () => {
  const groups = new Map<string, Group>();
  hear(groups, scan("regulation/campus/members/b", member(false, 2)), 0);
  hear(groups, scan("regulation/campus/members/a", member(true, 2)), 0);
  hear(groups, scan("regulation/campus/units/b1/ahu", { position: 0.7, on: true, free: 3 }), 0);
  hear(groups, scan("regulation/campus/units/b1/fan", { position: 0.2, on: false, free: 0 }), 0);
  hear(groups, scan("regulation/campus", { signal: 0.5, response: 0.4, precision: null }), 0);
  const campus = groups.get("campus") as Group;
  expect(present(campus, 1000).map((m) => m.address)).toEqual(["a", "b"]);
  expect(stacked(campus.units).map((u) => [u.unit, u.runs, u.locked])).toEqual([
    ["b1/fan", false, false],
    ["b1/ahu", true, true],
  ]);
  expect(campus.decisions).toMatchObject([{ signal: 0.5, response: 0.4, precision: null }]);
});

test("who is silent is absent, and the later term counts", () => {
  const groups = new Map<string, Group>();
  hear(groups, scan("regulation/campus/members/a", member(true, 2)), 0);
  hear(groups, scan("regulation/campus/members/b", member(true, 3)), 60_000);
  const campus = groups.get("campus") as Group;
  expect(leaderOf(campus.members)?.address).toBe("b");
  expect(present(campus, 60_000).map((m) => m.address)).toEqual(["b"]);
});

test("what is not of a group is left alone", () => {
  const groups = new Map<string, Group>();
  expect(hear(groups, scan("campus/b1", { temp: 1 }), 0)).toBe(false);
  expect(hear(groups, scan("regulation/campus/other/x", { temp: 1 }), 0)).toBe(false);
  expect(groups.size).toBe(0);
});
