import { describe, expect, test } from "vitest";
import type { Curve } from "../series";
import { frameOf } from "./frame";
import { type About, csvOf, harmless, headingOf, numbersOf, serialOf, xlsxOf } from "./sheet";
import { crc32 } from "./zip";

const curve = (point: string, times: number[], values: (number | null)[]): Curve => ({
  point,
  unit: "kW",
  kind: "float",
  times,
  values,
  gapMs: 0,
  expected: null,
  present: 0,
  extra: 0,
  bad: 0,
  since: 0,
});

const about: About = {
  zone: "Europe/Berlin",
  figure: "mean of each hour",
  comparison: "the week before",
  link: "http://node/explore",
};

// Two hours of one name, at the end of summer time
const first = Date.UTC(2026, 9, 25, 0, 30);
const hour = 3_600_000;
const frame = frameOf(
  [
    { role: "value", curve: curve("=cmd/a,b", [first, first + hour], [1.5, -2]) },
    { role: "before", curve: curve("=cmd/a,b", [first - 5], [3]) },
    { role: "computed", curve: curve("@A", [first + hour / 2], [1e-7]) },
  ],
  [first, first + 2 * hour],
);

describe("a frame", () => {
  test("has the times of points and formulas, and beside them what held before", () => {
    expect(frame.times).toEqual([first, first + hour / 2, first + hour]);
    expect(frame.columns.map((c) => c.values)).toEqual([
      [1.5, null, -2],
      [3, 3, 3],
      [null, 1e-7, null],
    ]);
  });

  test("leaves out what lies beyond the window, and gaps", () => {
    const c = curve("a", [0, 10, 11, 20], [1, 2, null, 3]);
    expect(frameOf([{ role: "value", curve: c }], [5, 20]).times).toEqual([10]);
    expect(frameOf([], [0, 1])).toEqual({ times: [], columns: [] });
  });
});

describe("CSV", () => {
  test("says zone and offset, so that an hour that comes twice can be told apart", () => {
    const lines = csvOf(frame, about, "point").trimEnd().split("\r\n");
    expect(lines[0]).toBe(
      '\ufefftime in Europe/Berlin,"\'=cmd/a,b [kW], mean of each hour","\'=cmd/a,b [kW], the week before","\'@A [kW], computed"',
    );
    expect(lines[1]).toBe("2026-10-25 02:30:00+02:00,1.5,3,");
    expect(lines[3]).toBe("2026-10-25 02:30:00+01:00,-2,3,");
  });

  test("has a decimal comma and semicolons where people write so", () => {
    expect(numbersOf("de-DE")).toBe("comma");
    expect(numbersOf("en-GB")).toBe("point");
    const lines = csvOf(frame, about, "comma").split("\r\n");
    expect(lines[1]).toBe("2026-10-25 02:30:00+02:00;1,5;3;");
    expect(lines[2]).toBe("2026-10-25 02:00:00+01:00;;3;1e-7");
  });

  test("holds no formula", () => {
    for (const text of ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1"]) {
      expect(harmless(text)).toBe(`'${text}`);
    }
    expect(harmless("campus/a=b")).toBe("campus/a=b");
    const column = { name: "=HYPERLINK(1)", role: "value", unit: "", values: [] } as const;
    expect(headingOf({ ...column, values: [] }, about).startsWith("'=")).toBe(true);
  });
});

describe("a workbook", () => {
  test("counts days by the clock of the zone", () => {
    expect(serialOf(Date.UTC(2026, 0, 1, 11), "Europe/Berlin")).toBe(46023.5);
    expect(serialOf(Date.UTC(1970, 0, 1), "UTC")).toBe(25569);
  });

  test("is an archive whose entries are where it says", async () => {
    expect(crc32(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
    const bytes = new Uint8Array(await (await xlsxOf(frame, about)).arrayBuffer());
    const view = new DataView(bytes.buffer);
    const end = bytes.length - 22;
    expect(view.getUint32(end, true)).toBe(0x06054b50);
    let at = view.getUint32(end + 16, true);
    const names: string[] = [];
    for (let i = 0; i < view.getUint16(end + 10, true); i++) {
      expect(view.getUint32(at, true)).toBe(0x02014b50);
      const length = view.getUint16(at + 28, true);
      const local = view.getUint32(at + 42, true);
      expect(view.getUint32(local, true)).toBe(0x04034b50);
      names.push(new TextDecoder().decode(bytes.slice(at + 46, at + 46 + length)));
      at += 46 + length;
    }
    expect(names).toContain("xl/worksheets/sheet1.xml");
    expect(at).toBe(end);
  });
});
