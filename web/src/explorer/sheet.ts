// The shown table as files for spreadsheets. This is loaded when somebody asks for a file.

import { unit } from "../format";
import { dateTimeIn, offsetOf, offsetWords } from "../zone";
import type { Column, Frame } from "./frame";
import { zip } from "./zip";

/** What a file says about itself. */
export interface About {
  zone: string;
  /** In words: the figure of each step, or measured values. */
  figure: string;
  /** In words: what the values are compared with, "" for nothing. */
  comparison: string;
  link: string;
}

/** How numbers are written in CSV. */
export type Numbers = "point" | "comma";

/** How the numbers of a language are written. */
export const numbersOf = (language: string): Numbers =>
  (1.5).toLocaleString(language).includes(",") ? "comma" : "point";

/** A text that no spreadsheet takes for a formula (OWASP, CSV injection). */
export const harmless = (text: string) => (/^[=+\-@\t\r\n]/.test(text) ? `'${text}` : text);

/** The heading of a column: the point or the formula, its unit, and what the column says about it. */
export function headingOf({ name, role, unit: named }: Column, about: About): string {
  const of = named ? ` [${unit(named)}]` : "";
  const what = {
    value: about.figure,
    before: about.comparison,
    difference: `difference to ${about.comparison}`,
    computed: "computed",
  }[role];
  return harmless(`${name}${of}${what ? `, ${what}` : ""}`);
}

const bom = "\ufeff";

/** A table in CSV (RFC 4180), with a decimal point and commas, or with a decimal comma and semicolons. */
export function csvOf({ times, columns }: Frame, about: About, numbers: Numbers): string {
  const separator = numbers === "comma" ? ";" : ",";
  const text = (s: string) =>
    s.includes(separator) || /["\r\n]/.test(s) ? `"${s.replaceAll('"', '""')}"` : s;
  const number = (n: number | null) =>
    n === null ? "" : numbers === "comma" ? String(n).replace(".", ",") : String(n);
  const head = [`time in ${about.zone}`, ...columns.map((c) => headingOf(c, about))].map(text);
  const rows = times.map((time, i) => {
    const at = `${dateTimeIn(time, about.zone)}${fraction(time)}${offsetWords(time, about.zone)}`;
    return [at, ...columns.map((c) => number(c.values[i] ?? null))].join(separator);
  });
  return `${bom}${[head.join(separator), ...rows].join("\r\n")}\r\n`;
}

const fraction = (time: number) => {
  const ms = Math.floor(time) % 1000;
  return ms === 0 ? "" : `.${String(ms).padStart(3, "0")}`;
};

/** So many rows and columns a sheet has (ECMA-376, limits of Excel). */
export const mostRows = 1_048_575;
const mostColumns = 16_383;

/** Days from 1899-12-30 to 1970-01-01. */
const epoch = 25_569;

/** A workbook (ECMA-376) with the table and a sheet that says what it is. */
export async function xlsxOf(frame: Frame, about: About): Promise<Blob> {
  const parts = {
    "[Content_Types].xml": contentTypes,
    "_rels/.rels": relations([["officeDocument", "xl/workbook.xml"]]),
    "xl/workbook.xml": workbook,
    "xl/_rels/workbook.xml.rels": relations([
      ["worksheet", "worksheets/sheet1.xml"],
      ["worksheet", "worksheets/sheet2.xml"],
      ["styles", "styles.xml"],
    ]),
    "xl/styles.xml": styles,
    "xl/worksheets/sheet1.xml": tableSheet(frame, about),
    "xl/worksheets/sheet2.xml": aboutSheet(frame, about),
  };
  return await zip(parts, "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet");
}

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';
const main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const packageNs = "http://schemas.openxmlformats.org/package/2006";
const spreadsheet = "application/vnd.openxmlformats-officedocument.spreadsheetml";

const contentTypes = `${declaration}<Types xmlns="${packageNs}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${spreadsheet}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${spreadsheet}.styles+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${spreadsheet}.worksheet+xml"/><Override PartName="/xl/worksheets/sheet2.xml" ContentType="${spreadsheet}.worksheet+xml"/></Types>`;

const relations = (list: readonly (readonly [string, string])[]) =>
  `${declaration}<Relationships xmlns="${packageNs}/relationships">${list
    .map(
      ([kind, target], i) =>
        `<Relationship Id="r${i + 1}" Type="${office}/${kind}" Target="${target}"/>`,
    )
    .join("")}</Relationships>`;

const workbook = `${declaration}<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Values" sheetId="1" r:id="r1"/><sheet name="About" sheetId="2" r:id="r2"/></sheets></workbook>`;

/** Style 1 is date and time, style 2 a heading. */
const styles = `${declaration}<styleSheet xmlns="${main}"><numFmts count="1"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts><fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders><cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="3"><xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/><xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/><xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/></cellXfs><cellStyles count="1"><cellStyle name="Normal" xfId="0" builtinId="0"/></cellStyles></styleSheet>`;

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/** A text in XML 1.0, which has no place for most control characters. */
const xml = (text: string) =>
  text
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what XML cannot hold
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ud800-\udfff\ufffe\uffff]/g, "\ufffd")
    .replace(/[&<>"]/g, (c) => escapes[c] ?? c);

/** A cell with a text, which is never a formula in a workbook. */
const textCell = (text: string, style = 0) =>
  `<c t="inlineStr" s="${style}"><is><t xml:space="preserve">${xml(text)}</t></is></c>`;

const numberCell = (n: number | null, style = 0) =>
  n === null || !Number.isFinite(n) ? `<c s="${style}"/>` : `<c s="${style}"><v>${n}</v></c>`;

/** The date and time that a clock of the zone shows, as a spreadsheet counts days. */
export const serialOf = (ms: number, zone: string) =>
  Math.round(ms + offsetOf(ms, zone)) / 86_400_000 + epoch;

function tableSheet({ times, columns }: Frame, about: About): string {
  const shown = columns.slice(0, mostColumns);
  const head = [`time in ${about.zone}`, ...shown.map((c) => headingOf(c, about))];
  const pieces = [
    `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0"><pane xSplit="1" ySplit="1" topLeftCell="B2" activePane="bottomRight" state="frozen"/></sheetView></sheetViews><cols><col min="1" max="1" width="21" customWidth="1"/></cols><sheetData>`,
    `<row>${head.map((h) => textCell(h, 2)).join("")}</row>`,
  ];
  times.slice(0, mostRows).forEach((time, i) => {
    const cells = shown.map((c) => numberCell(c.values[i] ?? null)).join("");
    pieces.push(`<row>${numberCell(serialOf(time, about.zone), 1)}${cells}</row>`);
  });
  pieces.push("</sheetData></worksheet>");
  return pieces.join("");
}

function aboutSheet({ times, columns }: Frame, about: About): string {
  const at = (ms: number | undefined) =>
    ms === undefined ? "" : `${dateTimeIn(ms, about.zone)}${offsetWords(ms, about.zone)}`;
  const cut = times.length > mostRows || columns.length > mostColumns;
  const lines = [
    ["Time zone", about.zone],
    ["First row", at(times[0])],
    ["Last row", at(times.at(-1))],
    ["Values", about.figure],
    ["Compared with", about.comparison || "nothing"],
    ["View", about.link],
    ...(cut ? [["Note", "A sheet holds no more rows or columns; take CSV for all."]] : []),
  ];
  const rows = lines.map(([a = "", b = ""]) => `<row>${textCell(a, 2)}${textCell(b)}</row>`);
  return `${declaration}<worksheet xmlns="${main}"><cols><col min="1" max="1" width="16" customWidth="1"/><col min="2" max="2" width="80" customWidth="1"/></cols><sheetData>${rows.join("")}</sheetData></worksheet>`;
}
