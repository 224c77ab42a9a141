import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { isSeldom, sectionOf, settingsGap, settingsOf } from "./schema";

const file = new URL("../../../config/schema.json", import.meta.url);
const defs = (JSON.parse(readFileSync(file, "utf8")) as { $defs: Record<string, unknown> }).$defs;
const dnp3 = settingsOf(defs["dnp3.Config"]);
const mqtt = settingsOf(defs["mqtt.Config"]);
const typeOf = (key: string) => dnp3.find((s) => s.key === key)?.type;

describe("the settings of a driver", () => {
  test("are those of its schema, each as it is typed", () => {
    expect(typeOf("address")).toBe("text");
    expect(typeOf("outstation")).toBe("number");
    expect(typeOf("one_at_a_time")).toBe("truth");
    expect(typeOf("alternatives")).toBe("texts");
    expect(typeOf("polls")).toBe("json");
    expect(typeOf("registry")).toBe("points");
    expect(dnp3.find((s) => s.key === "outstation")?.standard).toBe("10");
    expect(dnp3.filter((s) => !isSeldom(s)).map((s) => s.key)).toContain("outstation");
    expect(settingsOf(undefined)).toEqual([]);
  });

  test("become what the driver is told", () => {
    const typed = { address: " 10.0.0.9 ", outstation: "4", alternatives: "a, b", tls: "" };
    expect(sectionOf(dnp3, typed)).toEqual({
      ...{ address: "10.0.0.9", outstation: 4, alternatives: ["a", "b"], registry: [] },
    });
    expect(sectionOf(mqtt, { tls: "true", points: '[{"name":"t"}]' })).toEqual({
      ...{ tls: true, points: [{ name: "t" }] },
    });
    expect(sectionOf(dnp3, { registry: "name,group\na,30" }).registry).toBe("name,group\na,30\n");
  });

  test("are not sent with what is no number or no JSON", () => {
    expect(settingsGap(dnp3, { outstation: "four" })).toBe("outstation is a number.");
    expect(settingsGap(mqtt, { points: "[{" })).toContain("points is JSON");
    expect(settingsGap(mqtt, { points: "[]" })).toBe("");
  });
});
