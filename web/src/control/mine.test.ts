import { expect, test } from "vitest";
import { heldRows } from "./held-rows";
import { afterWords, mineOf, mineWords } from "./mine";
import { idlePoint, slotOf } from "./testing";

const me = "person:ann";
const point = (name: string, ...array: ReturnType<typeof slotOf>[]) => ({
  ...idlePoint,
  point: name,
  array,
});
const holdings = {
  points: [
    point("a", slotOf(me, 8, 1), slotOf(me, 10, 2), slotOf("agent:x", 12, 3)),
    point("b", slotOf(me, 8, 1)),
    point("c", slotOf("agent:x", 8, 1)),
  ],
  isCut: false,
  waiting: [slotOf(me, 8, 1)],
  overrides: [],
  tasks: [],
};

test("what somebody holds is counted and said", () => {
  const mine = mineOf(holdings, me);
  expect(mine).toEqual({ commands: 3, points: ["a", "b"], tasks: 0, waiting: 1 });
  expect(mineWords(mine)).toBe("3 commands on 2 points and 1 command that waits for approval");
  expect(mineWords(mineOf(holdings, "person:bob"))).toBe("");
});

test("what became of it is said of every point", () => {
  const mine = { ...mineOf(holdings, me), waiting: 0 };
  const after = [point("a", slotOf("agent:x", 12, 3)), { ...point("b"), reverting: true }];
  expect(afterWords(mine, after)).toBe(
    "Ended: 3 commands on 2 points. 1 point is going back; 1 point follows others.",
  );
  expect(afterWords(mine, [])).toBe("Ended: 3 commands on 2 points. 2 points went back.");
  expect(afterWords(mineOf(holdings, "person:bob"), [])).toBe("There was nothing of yours.");
});

test("commanded points begin with those that need somebody", () => {
  const points = [
    { ...point("a", slotOf(me, 8, 1)), output: "held" as const },
    { ...point("b", slotOf("agent:x", 8, 1)), output: "failed" as const },
    { ...point("c", slotOf(me, 8, 1)), output: "differs" as const },
  ];
  const names = (choice: string) => heldRows(points, choice, me, 0).map((r) => r.point.point);
  expect(names("")).toEqual(["b", "c", "a"]);
  expect(names("mine")).toEqual(["c", "a"]);
  expect(names("trouble")).toEqual(["b", "c"]);
});
