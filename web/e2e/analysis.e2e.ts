import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { curvePixels, seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { building } from "./sites";
import { history } from "./stand-explore";

const boiler = "campus/plant/boiler1";
const two = `/explore?point=${boiler}/supply_temp&point=${boiler}/power&range=1d`;
const berlin = "Europe/Berlin";

const browser = useBrowser();
const open = (address: string, more = {}) =>
  browser({
    site: building,
    address,
    handlers: history(building),
    began: (stand) => {
      stand.zone = berlin;
    },
    ...more,
  });

const params = (page: Page) => new URL(page.url()).searchParams;
const drawn = (page: Page, ...curves: number[]) =>
  Promise.all(curves.map((i) => expect.poll(() => curvePixels(page, i)).toBeGreaterThan(100)));

describe("the choice of dates", () => {
  test("is made by keys, in whole days of the site", async () => {
    const { page, complaints } = await open(
      `${two}&from=2026-03-30T10:00:00Z&to=2026-03-30T12:00:00Z`,
    );
    const button = page.getByRole("button", { name: "Dates…" });
    await button.focus();
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Dates and times" });
    await dialog.getByRole("button", { name: "30 March 2026" }).focus();
    expect(await seriousViolations(page)).toEqual([]);
    // Back over the day of 23 hours: Saturday, then Sunday
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("Enter");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    expect(await dialog.getByRole("textbox", { name: "From" }).inputValue()).toBe(
      "2026-03-28 00:00",
    );
    expect(await dialog.getByRole("textbox", { name: "To" }).inputValue()).toBe("2026-03-30 00:00");
    await dialog.getByRole("textbox", { name: "To" }).focus();
    await page.keyboard.press("Enter");
    await dialog.waitFor({ state: "hidden" });
    expect(params(page).get("from")).toBe("2026-03-27T23:00:00.000Z");
    expect(params(page).get("to")).toBe("2026-03-29T22:00:00.000Z");
    await page.getByText("2026-03-28 00:00:00 to 2026-03-30 00:00:00").waitFor();
    // The same instants by another clock
    await page.getByRole("combobox", { name: "Time zone" }).selectOption("utc");
    await page.getByText("2026-03-27 23:00:00 to 2026-03-29 22:00:00").waitFor();
    expect(complaints).toEqual([]);
  });

  test("says what is wrong, and closes with Escape", async () => {
    const { page } = await open(two);
    await page.getByRole("button", { name: "Dates…" }).click();
    const dialog = page.getByRole("dialog", { name: "Dates and times" });
    await dialog.getByRole("textbox", { name: "From" }).fill("31.12.2025");
    await page.keyboard.press("Enter");
    await dialog.getByRole("alert").getByText("31.12.2025 is no time").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "hidden" });
    await page.getByRole("button", { name: "Dates…" }).click();
    await dialog.getByRole("button", { name: "Last week" }).click();
    await expect.poll(() => params(page).get("from")).not.toBeNull();
    const hours =
      Date.parse(params(page).get("to") ?? "") - Date.parse(params(page).get("from") ?? "");
    expect([167, 168, 169]).toContain(hours / 3_600_000);
  });
});

describe("a comparison", () => {
  test("has its difference drawn and said, and statistics of both", async () => {
    const computed = `&formula=${encodeURIComponent(`'${boiler}/power' / 2`)}`;
    const { page, complaints } = await open(`${two}&compare=week${computed}`);
    await drawn(page, 0, 1);
    await page.getByRole("button", { name: "Difference", exact: true }).click();
    await page.getByRole("button", { name: "Statistics" }).click();
    const table = page.getByRole("region", { name: "Statistics of the shown points" });
    const power = table.getByRole("row", { name: /^power/ });
    await power.getByText(/kWh$/).waitFor();
    await table.getByRole("columnheader", { name: "Difference" }).waitFor();
    // Kelvin without a share for temperatures, a share for power
    await table
      .getByRole("row", { name: /supply_temp/ })
      .getByText(/ K$/)
      .waitFor();
    await power.getByText(/ kW \(.*%\)$/).waitFor();
    await table
      .getByRole("row", { name: /power' \/ 2/ })
      .getByText(/ kW \(.*%\)$/)
      .waitFor();
    expect(params(page).get("difference")).toBe("shown");
    const box = await page.locator(".u-over").boundingBox();
    if (!box) throw new Error("the plot has no box");
    await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
    await page
      .getByText(/^difference /)
      .first()
      .waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("fits a phone", async () => {
    const { page } = await open(`${two}&compare=week&difference=shown&statistics=shown`, {
      browser: phone,
    });
    await drawn(page, 0);
    await page.getByRole("button", { name: "Dates…" }).click();
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
  });
});

/** The bytes of what a button saves. */
async function saved(page: Page, button: string): Promise<{ name: string; bytes: Buffer }> {
  const [download] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("button", { name: button }).click(),
  ]);
  return { name: download.suggestedFilename(), bytes: await readFile(await download.path()) };
}

describe("files of what is shown", () => {
  const shown = `${two}&step=1h&compare=week&difference=shown&from=2026-03-28T12:00:00Z&to=2026-03-29T12:00:00Z&formula=${encodeURIComponent(`'${boiler}/power' * 1[h]`)}`;

  test("are CSV with decimal commas for those who write so, with comparison and difference", async () => {
    const { page } = await open(shown, { browser: { locale: "de-DE", acceptDownloads: true } });
    await page.evaluate(() => localStorage.setItem("voltbus-language", "en"));
    await page.reload();
    await drawn(page, 0, 1);
    await page.getByText(/kWh/).first().waitFor();
    await page.getByRole("button", { name: "Download or copy…" }).click();
    const { name, bytes } = await saved(page, "Download table as CSV");
    expect(name).toBe("voltbus.csv");
    const lines = bytes.toString("utf8").replace("\ufeff", "").trimEnd().split("\r\n");
    const head = lines[0]?.split(";") ?? [];
    expect(head[0]).toBe("time in Europe/Berlin");
    expect(head[1]).toBe(`${boiler}/supply_temp [°C], mean of each hour`);
    expect(head[2]).toBe(`${boiler}/supply_temp [°C], the week before`);
    expect(head[3]).toBe(`${boiler}/supply_temp [Δ K], difference to the week before`);
    // A formula begins with a quotation mark of its own, the last three are of the formula
    expect(head).toHaveLength(10);
    expect(head[7]).toContain("[kWh], computed");
    expect(lines).toHaveLength(25);
    const row = lines[1]?.split(";") ?? [];
    expect(row[0]).toBe("2026-03-28 13:00:00+01:00");
    const number = (s: string | undefined) => Number((s ?? "").replace(",", "."));
    expect(number(row[3])).toBeCloseTo(number(row[1]) - number(row[2]), 9);
    expect(row.join("")).toMatch(/\d,\d/);
    expect(row.slice(1).join("")).not.toMatch(/\d\.\d/);
    // The hour that clocks skip is not there
    expect(lines.map((l) => l.slice(0, 13))).not.toContain("2026-03-29 02");
  });

  test("are workbooks that others open", async () => {
    const { page } = await open(shown, { browser: { acceptDownloads: true } });
    await drawn(page, 0, 1);
    await page.getByRole("button", { name: "Download or copy…" }).click();
    const { name, bytes } = await saved(page, "Download XLSX");
    expect(name).toBe("voltbus.xlsx");
    expect(await seriousViolations(page)).toEqual([]);
    const values = await sheetOf(page, bytes, 1);
    expect(values[0]?.[0]).toBe("time in Europe/Berlin");
    // 2026-03-28 13:00 by the clock of the site, in days since 1899-12-30
    expect(Number(values[1]?.[0])).toBeCloseTo(46109 + 13 / 24, 6);
    expect(Number(values[1]?.[1])).toBeGreaterThan(20);
    expect(values).toHaveLength(25);
    const about = await sheetOf(page, bytes, 2);
    expect(about).toContainEqual(["Time zone", berlin]);
    expect(about).toContainEqual(["Compared with", "the week before"]);
  });
});

/** The rows of a sheet, after unzip has tested the archive and a browser has read its XML. */
async function sheetOf(page: Page, bytes: Buffer, sheet: number): Promise<string[][]> {
  const dir = mkdtempSync(join(tmpdir(), "voltbus-sheet-"));
  try {
    const file = join(dir, "a.xlsx");
    writeFileSync(file, bytes);
    const unzip = (...args: string[]) => execFileSync("unzip", args, { encoding: "utf8" });
    expect(unzip("-t", file)).toContain("No errors detected");
    const xml = unzip("-p", file, `xl/worksheets/sheet${sheet}.xml`);
    return await page.evaluate((text) => {
      const doc = new DOMParser().parseFromString(text, "application/xml");
      if (doc.querySelector("parsererror")) throw new Error(text.slice(0, 500));
      return [...doc.querySelectorAll("row")].map((row) =>
        [...row.querySelectorAll("c")].map((c) => c.textContent ?? ""),
      );
    }, xml);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

describe("a computed series", () => {
  test("says what is wrong and where, then is drawn and part of the link", async () => {
    const { page, complaints } = await open(two);
    await drawn(page, 0, 1);
    const formula = page.getByRole("textbox", { name: "Formula" });
    await formula.fill("A + B");
    await page.getByRole("button", { name: "Add", exact: true }).click();
    await page.getByText("At character 5: degC and kW cannot be added").waitFor();
    expect(await formula.evaluate((e: HTMLInputElement) => e.selectionStart)).toBe(4);
    expect(await seriousViolations(page)).toEqual([]);
    await formula.fill("integral(B)");
    await page.getByText("The result is in kWh.").waitFor();
    await formula.press("Enter");
    await drawn(page, 2);
    expect(params(page).getAll("formula")).toEqual([`integral('${boiler}/power')`]);
    await page.reload();
    await drawn(page, 2);
    await page.getByRole("button", { name: `Remove integral('${boiler}/power')` }).click();
    await expect.poll(() => params(page).getAll("formula")).toEqual([]);
    expect(complaints).toEqual([]);
  });
});

describe("other pictures", () => {
  test("are a heat map that keys walk over", async () => {
    const { page, complaints } = await open(`${two.replace("1d", "7d")}&show=heat`);
    const map = page.getByRole("application", { name: /^Heat map of / });
    await map.focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowRight");
    await page
      .getByRole("status", { name: "Hour" })
      .getByText(/01:00 to 01:59: .* °C/)
      .waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("are a scatter with its line, and a duration curve", async () => {
    const { page, complaints } = await open(two);
    await page.getByRole("button", { name: "Scatter" }).click();
    await page.getByRole("status", { name: "Regression" }).getByText(/R² = /).waitFor();
    await page.getByRole("combobox", { name: "Across" }).selectOption({ index: 1 });
    await expect.poll(() => params(page).get("x")).toBe(`${boiler}/power`);
    expect(await seriousViolations(page)).toEqual([]);
    await page.getByRole("button", { name: "Duration" }).click();
    await page.getByText(/^100 % are \d+\.\d h with values\. 1 series of other units/).waitFor();
    expect(complaints).toEqual([]);
  });

  test("fit a phone", async () => {
    for (const show of ["heat", "scatter", "duration"]) {
      const { page } = await open(`${two}&show=${show}`, { browser: phone });
      await page.locator(".shape canvas").waitFor();
      expect(await sidewaysScroll(page)).toBe(0);
    }
  });
});

/** A node that keeps what it is given, as far as these tests need it. */
function keeping() {
  const views: Record<string, unknown>[] = [];
  const annotations: Record<string, unknown>[] = [];
  const written = { by: "person:admin", at: "2026-03-01T00:00:00Z", version: 1, note: "" };
  return {
    ...history(building),
    "GET views": () => ({ views }),
    "PUT views": ({ body }: { body: unknown }) => {
      views.push({ ...written, ...(body as object) });
    },
    "DELETE views/*": () => {
      views.pop();
    },
    "GET annotations": () => ({ annotations }),
    "PUT annotations": ({ body }: { body: unknown }) => {
      annotations.push({ id: "1", ...written, ...(body as object) });
      return {};
    },
    "DELETE annotations/*": () => {
      annotations.pop();
    },
  };
}

describe("what people keep", () => {
  test("is a view by its name, which a link opens again", async () => {
    const { page, complaints } = await open(`${two}&show=heat`, { handlers: keeping() });
    await page.getByRole("textbox", { name: "Name of the view" }).fill("Boiler by hours");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    const link = page.getByRole("link", { name: "Boiler by hours" });
    await link.waitFor();
    await page.getByRole("button", { name: "Plot" }).click();
    await expect.poll(() => params(page).get("show")).toBeNull();
    await link.click();
    await page.getByRole("application", { name: /^Heat map of / }).waitFor();
    await page.getByRole("button", { name: "Delete the view Boiler by hours" }).click();
    await link.waitFor({ state: "hidden" });
    expect(complaints).toEqual([]);
  });

  test("is a note about a time, with who wrote it", async () => {
    const { page, complaints } = await open(two, { handlers: keeping() });
    await page.getByRole("button", { name: "Add a note" }).click();
    await page.getByRole("textbox", { name: "Note" }).fill("<b>filter changed</b>");
    await page.getByRole("textbox", { name: "From" }).fill("yesterday");
    await page.getByRole("button", { name: "Save the note" }).click();
    await page.getByRole("alert").getByText("From: write a time").waitFor();
    await page.getByRole("textbox", { name: "From" }).fill("2026-03-01 10:00");
    await page.getByRole("button", { name: "Save the note" }).click();
    const list = page.getByRole("region", { name: "Annotations" });
    await list.getByText("<b>filter changed</b>").waitFor();
    await list.getByText(/2026-03-01 10:00 to .*, admin/).waitFor();
    expect(await seriousViolations(page)).toEqual([]);
    await list.getByRole("button", { name: /^Delete the note/ }).click();
    await list.getByText("filter changed").waitFor({ state: "hidden" });
    expect(complaints).toEqual([]);
  });

  test("is not offered to those who may only look", async () => {
    const { page } = await open(two, { role: "viewer" });
    await drawn(page, 0);
    expect(await page.getByRole("button", { name: "Add a note" }).count()).toBe(0);
    expect(await page.getByRole("textbox", { name: "Name of the view" }).count()).toBe(0);
  });
});
