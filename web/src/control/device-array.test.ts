import { describe, expect, test } from "vitest";
import type { Priorities } from "../generated/api";
import { deviceLevels, deviceWords } from "./device-array";
import { idlePoint } from "./testing";

const device = (
  levels: Priorities["levels"],
  own = 0,
  standard: number | null = 20,
): Priorities => ({
  point: idlePoint.point,
  levels,
  default: standard,
  own,
});

test("every level is there, with who commands it and which one counts", () => {
  const all = deviceLevels(
    idlePoint,
    device(
      [
        { level: 5, value: 17 },
        { level: 8, value: 22.5 },
      ],
      8,
    ),
  );
  expect(all.map((l) => l.level)).toEqual(Array.from({ length: 16 }, (_, i) => i + 1));
  expect(all.filter((l) => l.from !== "nobody")).toEqual([
    { level: 5, value: "17 °C", from: "another system", wins: true },
    { level: 8, value: "22.5 °C", from: "this node", wins: false },
  ]);
});

describe("what the device follows", () => {
  test.each([
    [device([]), /^No system commands it.*relinquish default, 20 °C\.$/],
    [device([], 0, null), /^No system commands it.*its relinquish default\.$/],
    [device([{ level: 8, value: 22 }], 8), /follows this node, at level 8 \(manual operator\)\.$/],
    [device([{ level: 9, value: 22 }]), /follows another system, at level 9\.$/],
    [
      device(
        [
          { level: 5, value: 17 },
          { level: 8, value: 22 },
        ],
        8,
      ),
      /another system, at level 5 .*, before level 8 .* of this node\.$/,
    ],
    [device([{ level: 9, value: 22 }], 8), /^The device has nothing at level 8 .*relinquished/],
  ])("case %#", (given, words) => {
    expect(deviceWords(idlePoint, given)).toMatch(words);
  });
});
