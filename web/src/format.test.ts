import { describe, expect, test } from "vitest";
import {
  age,
  bytes,
  exact,
  localTimes,
  percent,
  percentOf,
  plain,
  plural,
  qualityName,
  reasonFor,
  span,
  unit,
  value,
} from "./format";

test("the times in a text of a node are those of this browser", () => {
  const local = (ms: number) => {
    const d = new Date(ms);
    return [d.getFullYear(), d.getMonth() + 1, d.getDate(), d.getHours()].map((n) =>
      `${n}`.padStart(2, "0"),
    );
  };
  const [year, month, day, hour] = local(Date.UTC(2026, 10, 22, 9, 54, 51));
  expect(localTimes("gone since 2026-11-22T09:54:51Z, or x2026-11-22T09:54:51")).toMatch(
    new RegExp(`^gone since ${year}-${month}-${day} ${hour}:\\d4:51, or x2026-11-22T09:54:51$`),
  );
});

describe("a value", () => {
  test.each([
    [21.4999, "21.50"],
    [-3.1, "-3.10"],
    [0, "0"],
    [1204312, "1,204,312"],
    [1204312.55, "1,204,312.6"],
    [0.01234, "0.0123"],
    [1.5e-7, "1.500e-7"],
    [6.02214e23, "6.02214e+23"],
    [true, "on"],
    [false, "off"],
    [null, "–"],
    [undefined, "–"],
    ["NaN", "NaN"],
    ["<b>bold</b>", "<b>bold</b>"],
  ])("%j is shown as %j", (v, want) => {
    expect(value(v)).toBe(want);
  });

  test.each([
    [-0.2673, "degC", "-0.27"],
    [-0.001, "degC", "0.00"],
    [0.5, "%", "0.50"],
    [21.4999, "degC", "21.50"],
    [0.9734, "1", "0.9734"],
  ])("%j %s has no more decimals than its unit is worth: %j", (v, unitName, want) => {
    expect(value(v, unitName)).toBe(want);
  });

  test("keeps all digits where they are asked for", () => {
    expect(exact(1204312.5512)).toBe("1204312.5512");
    expect(exact(null)).toBe("");
  });
});

test.each([
  [0, "0 %"],
  [0.004, "0.4 %"],
  [1.304, "130 %"],
])("a load of %d is %s", (n, words) => expect(percentOf(n)).toBe(words));

describe("a span", () => {
  test.each([
    [0, "0 ms"],
    [-5, "0 ms"],
    [850, "850 ms"],
    [59_999, "59 s"],
    [60_000, "1 min"],
    [3_600_000, "1 h"],
    [7_500_000, "2 h 5 min"],
    [90_000_000, "1 d 1 h"],
    [172_800_000, "2 d"],
  ])("of %d ms is %j", (ms, want) => {
    expect(span(ms)).toBe(want);
  });

  test("is calm for what is fresh", () => {
    expect(age(1400)).toBe("now");
    expect(age(1600)).toBe("1 s");
  });
});

describe("a share", () => {
  test("is never rounded up to all", () => {
    expect(percent(99_999, 100_000)).toBe("99.9 %");
    expect(percent(100_000, 100_000)).toBe("100 %");
    expect(percent(0, 10)).toBe("0.0 %");
  });
});

describe("text", () => {
  test("of a device cannot turn the direction of the text around it", () => {
    expect(plain("a\u202eb\u2066c")).toBe("a\ufffdb\ufffdc");
    expect(plain("温度 <b>")).toBe("温度 <b>");
  });

  test("counts in singular and plural", () => {
    expect(plural(1, "device")).toBe("1 device");
    expect(plural(12_345, "sample")).toBe("12,345 samples");
  });

  test("names units and qualities that are known, and leaves others alone", () => {
    expect(unit("degC")).toBe("°C");
    expect(unit("1")).toBe("");
    expect(unit("__proto__")).toBe("__proto__");
    expect(reasonFor("bad(timeout)")).toBe("no answer came in time");
    expect(qualityName("bad(timeout)")).toBe("no answer in time");
    expect(qualityName("good")).toBe("good");
    expect(qualityName("toString")).toBe("toString");
    expect(reasonFor("constructor")).toBe("");
  });

  test("says amounts of storage", () => {
    expect(bytes(512)).toBe("512 B");
    expect(bytes(3_240_000)).toBe("3.2 MB");
    expect(bytes(31_400_000)).toBe("31 MB");
  });
});
