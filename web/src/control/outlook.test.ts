import { describe, expect, test } from "vitest";
import type { ControlPoint, Value } from "../generated/api";
import { outlook } from "./outlook";
import { idlePoint, slotOf } from "./testing";

const now = Date.parse("2026-03-09T12:00:00Z");
const viewer = { me: "person:ann", role: "operator", now };
const command = (part: { value?: Value; level?: number; lease?: number } = {}) => ({
  point: idlePoint.point,
  value: 22.5,
  level: 8,
  ...part,
});
const seen = (part: Partial<ControlPoint>, c = command(), who = viewer) =>
  outlook({ ...idlePoint, ...part }, c, who);
const theirs = {
  requester: "agent:tune",
  task: "balance",
  path: "site",
  until: "2026-03-09T13:00:00Z",
};
const mine = { ...theirs, requester: "person:ann" };

describe("a command", () => {
  test("of a free point wins, and says how it ends", () => {
    const { verdict, lines } = seen({}, command({ lease: 600 }));
    expect(verdict).toBe("wins");
    expect(lines[0]).toBe("It wins: the point is set to 22.5 °C at once.");
    expect(lines[1]).toMatch(
      /^It ends by itself after 10 min, at .*; then the point is given back/,
    );
  });

  test("of a point that cannot be read now is not said to be done at once", () => {
    const { verdict, lines } = seen({ observed: null });
    expect(verdict).toBe("wins");
    expect(lines[0]).toMatch(
      /^It wins, but the device cannot be read now\. 22\.5 °C is written when/,
    );
    expect(seen({ output: "failed" }).lines[0]).toMatch(/last command could not be written/);
  });

  test("on the level of minimum times is refused where there are some", () => {
    expect(seen({ policy: { min_on: 60 } }, command({ level: 6 }))).toMatchObject({
      verdict: "refused",
    });
  });

  test("without a lease says that it stays", () => {
    expect(seen({ default: 20 }).lines[1]).toBe(
      "It stays until somebody releases it; then the point goes back to its default, 20 °C.",
    );
  });

  test("waits behind a smaller level", () => {
    const { verdict, lines } = seen({ array: [slotOf("agent:tune", 5, 20)] });
    expect(verdict).toBe("waits");
    expect(lines[0]).toContain("20 °C at level 5, critical equipment control, of the agent tune");
  });

  test("goes before a greater level, which comes after it", () => {
    const { verdict, lines } = seen({ array: [slotOf("agent:tune", 12, 20)] });
    expect(verdict).toBe("wins");
    expect(lines.join(" ")).toContain("Behind it waits 20 °C at level 12");
    expect(lines.at(-1)).toContain("the point follows the agent tune at level 12");
  });

  test("replaces an own one", () => {
    expect(seen({ array: [slotOf("person:ann", 8, 20)] }).lines[1]).toBe(
      "It replaces your own 20 °C.",
    );
  });

  test("that a second person must approve asks", () => {
    expect(seen({ policy: { approval: true } })).toMatchObject({
      verdict: "asks",
      lines: expect.arrayContaining(["It needs approval by a second person."]),
    });
  });

  test("says rate, minimum times and interlocks that concern it", () => {
    const policy = {
      rate: { most: 0.5, per: 60 },
      min_off: 300,
      min_on: 60,
      interlocks: [
        { guards: { min: 22 }, other: "a/fan", needs: { min: 1 } },
        { guards: { min: 25 }, other: "a/pump", needs: { min: 1 } },
      ],
    };
    const words = seen({ policy }).lines.join(" ");
    expect(words).toContain("in steps of at most 0.5 °C");
    expect(words).toContain("It turns on only after 5 min");
    expect(words).toContain("only while a/fan is at least 1");
    expect(words).not.toContain("a/pump");
  });
});

describe("a command is refused", () => {
  const cases: [string, Partial<ControlPoint>, RegExp][] = [
    ["by a read-only point", { writable: false }, /read-only/],
    [
      "during an override",
      { overrides: [{ requester: "person:bob", reason: "repair" }] },
      /bob overrode the point until it is released \(repair\)/,
    ],
    [
      "within the reservation of another",
      { window: theirs },
      /the agent tune has reserved site for balance/,
    ],
    [
      "without the reservation that is demanded",
      { policy: { reservation: true } },
      /demands a reservation/,
    ],
    [
      "at a level that another holds",
      { array: [slotOf("agent:tune", 8, 20)] },
      /the agent tune holds level 8/,
    ],
  ];
  test.each(cases)("%s", (_, part, words) => {
    expect(seen(part)).toMatchObject({ verdict: "refused", lines: [expect.stringMatching(words)] });
  });

  test("at a level that the role may not use", () => {
    expect(seen({}, command({ level: 5 })).lines).toEqual(["Level 5 needs the role engineer."]);
    expect(seen({}, command({ level: 5 }), { ...viewer, role: "engineer" }).verdict).toBe("wins");
    expect(seen({}, command({ level: 1 }), { ...viewer, role: "engineer" }).verdict).toBe(
      "refused",
    );
  });
});

describe("a reservation", () => {
  test("of one's own lets command, and take a level over", () => {
    const { verdict, lines } = seen({
      window: mine,
      policy: { reservation: true },
      array: [slotOf("agent:tune", 8, 20)],
    });
    expect(verdict).toBe("wins");
    expect(lines).toContain(
      "It takes the level over from the agent tune, because you have reserved the point.",
    );
  });

  test("does not stop what is most urgent", () => {
    const admin = { ...viewer, role: "administrator" };
    expect(seen({ window: theirs }, command({ level: 2 }), admin).verdict).toBe("wins");
  });
});
