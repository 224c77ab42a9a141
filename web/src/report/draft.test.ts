import { describe, expect, test } from "vitest";
import { type Draft, emptyDraft, missing, pointsOf, reportOf } from "./draft";

const draft = (part: Partial<Draft> = {}): Draft => ({
  ...emptyDraft(),
  name: "plant",
  title: "Plant",
  points: "b/power",
  ...part,
});

describe("a draft of a report", () => {
  test("names each point once", () => {
    expect(pointsOf(" b/power \n\nb/temp\nb/power")).toEqual(["b/power", "b/temp"]);
  });

  test("has the points of a view, or its own", () => {
    expect(reportOf(draft({ contacts: ["ada"] }))).toEqual({
      ...{ name: "plant", title: "Plant", points: ["b/power"], contacts: ["ada"] },
      ...{ weekday: "monday", at: "06:00" },
    });
    expect(reportOf(draft({ view: "Night" }))).not.toHaveProperty("points");
  });

  test("says what is missing", () => {
    expect(missing(draft())).toBe("");
    expect(missing(draft({ name: "a b" }))).toMatch(/^Name/);
    expect(missing(draft(), ["other", "plant"])).toMatch(/^Name: it is taken/);
    expect(missing(draft({ title: " " }))).toMatch(/^Title/);
    expect(missing(draft({ points: "\n" }))).toMatch(/^Points: name/);
    expect(missing(draft({ points: "\n", view: "Night" }))).toBe("");
    const many = Array.from({ length: 51 }, (_, i) => `p${i}`).join("\n");
    expect(missing(draft({ points: many }))).toBe("Points: a report has at most 50.");
    expect(missing(draft({ at: "" }))).toMatch(/^Time/);
  });
});
