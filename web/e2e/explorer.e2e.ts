import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { curvePixels, seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { attacks, building, hostile, large, type Site } from "./sites";
import { history } from "./stand-explore";

const boiler = "campus/plant/boiler1";
const two = `/explore?point=${boiler}/supply_temp&point=${boiler}/power&range=1d`;

const browser = useBrowser();
const open = (address: string, site: Site = building, more = {}) =>
  browser({ site, address, handlers: history(site), ...more });

const plot = (page: Page) => page.getByRole("application", { name: /^Plot of / });
const legend = (page: Page) => page.getByRole("region", { name: "Shown points" });
const params = (page: Page) => new URL(page.url()).searchParams;

/** The bounds in the address, in milliseconds, as soon as there are any. */
async function bounds(page: Page): Promise<[number, number]> {
  await expect.poll(() => params(page).get("from")).not.toBeNull();
  const { searchParams } = new URL(page.url());
  return [Date.parse(searchParams.get("from") ?? ""), Date.parse(searchParams.get("to") ?? "")];
}

async function drawn(page: Page, ...curves: number[]) {
  for (const i of curves) await expect.poll(() => curvePixels(page, i)).toBeGreaterThan(100);
}

describe("the explorer", () => {
  test("finds points by words, adds and removes them", async () => {
    const { page, complaints } = await open("/explore");
    await page.getByRole("searchbox", { name: "Find points" }).fill("boiler1 temp");
    await page.getByRole("checkbox", { name: /supply_temp/ }).check();
    await drawn(page, 0);
    await page.getByRole("checkbox", { name: /return_temp/ }).check();
    await drawn(page, 1);
    expect(params(page).getAll("point")).toEqual([
      `${boiler}/supply_temp`,
      `${boiler}/return_temp`,
    ]);
    await page.getByRole("button", { name: `Remove ${boiler}/supply_temp` }).click();
    await expect.poll(() => params(page).getAll("point")).toEqual([`${boiler}/return_temp`]);
    expect(await seriousViolations(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });

  test("shows by a link what another one saw", async () => {
    const { page } = await open(`${two}&compare=day`);
    await drawn(page, 0, 1);
    await page.getByRole("combobox", { name: "Compare" }).waitFor();
    expect(await page.getByRole("combobox", { name: "Compare" }).inputValue()).toBe("day");
    await legend(page).getByText("kW").waitFor();
  });

  test("says in words how complete it is", async () => {
    const { page } = await open(two);
    await page
      .getByRole("status", { name: "Completeness" })
      .getByText(/% complete: /)
      .waitFor();
  });

  test("is moved by wheel, with what is under the pointer in its place", async () => {
    const { page } = await open(two);
    await drawn(page, 0);
    const over = page.locator(".u-over");
    const box = await over.boundingBox();
    if (!box) throw new Error("the plot has no box");
    await page.mouse.move(box.x + box.width * 0.25, box.y + box.height / 2);
    for (let i = 0; i < 5; i++) await page.mouse.wheel(0, -200);
    const hours = async () => {
      const [from, to] = await bounds(page);
      return (to - from) / 3_600_000;
    };
    await expect.poll(hours).toBeLessThan(12); // all turns of the wheel arrived
    const [, to] = await bounds(page);
    expect(Date.now() - to).toBeGreaterThan(6 * 3_600_000);
    await drawn(page, 0);
  });

  test("is zoomed by a drag and moved with the shift key", async () => {
    const { page } = await open(two);
    await drawn(page, 0);
    const box = await page.locator(".u-over").boundingBox();
    if (!box) throw new Error("the plot has no box");
    const y = box.y + box.height / 2;
    await page.mouse.move(box.x + box.width * 0.2, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, y, { steps: 5 });
    await page.mouse.up();
    const [from, to] = await bounds(page);
    expect((to - from) / 3_600_000).toBeCloseTo(12, 0);
    await page.keyboard.down("Shift");
    await page.mouse.move(box.x + box.width * 0.2, y);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.7, y, { steps: 5 });
    await page.mouse.up();
    await page.keyboard.up("Shift");
    await expect.poll(async () => ((await bounds(page))[0] - from) / 3_600_000).toBeCloseTo(-6, 0);
  });

  test("is moved by keys", async () => {
    const { page } = await open(two);
    await plot(page).focus();
    await page.keyboard.press("PageUp");
    const [from, to] = await bounds(page);
    expect((to - from) / 3_600_000).toBeCloseTo(24, 5);
    expect((Date.now() - to) / 3_600_000).toBeCloseTo(24, 0);
    await page.keyboard.press("+");
    await expect
      .poll(async () => {
        const [a, b] = await bounds(page);
        return Math.round((b - a) / 3_600_000);
      })
      .toBe(12);
  });

  test("summarises by steps of the calendar", async () => {
    const { page } = await open(`${two}&step=1h`);
    await drawn(page, 0, 1);
    await page.getByRole("combobox", { name: "Figure of each step" }).selectOption("max");
    await expect.poll(() => params(page).get("figure")).toBe("max");
    await page.getByRole("button", { name: "Table" }).click();
    await page.getByRole("columnheader", { name: /supply_temp/ }).waitFor();
    await expect.poll(() => page.getByRole("row").count()).toBeGreaterThan(20);
  });

  test("shows the samples as a table", async () => {
    const { page } = await open(`${two.replace("1d", "1h")}&show=table`);
    const rows = page.getByRole("region", { name: "Samples" }).getByRole("row");
    await expect.poll(() => rows.count()).toBeGreaterThan(10);
    expect(await rows.count()).toBeLessThan(80);
    await page.getByText("The newest 2,000 samples of each point are shown").waitFor();
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("gives files and commands for elsewhere", async () => {
    const { page } = await open(two);
    await drawn(page, 0);
    await page.getByRole("button", { name: "Download or copy…" }).click();
    const href = await page.getByRole("link", { name: "Download CSV" }).getAttribute("href");
    const query = new URL(href ?? "", page.url()).searchParams;
    expect(query.getAll("point")).toEqual([`${boiler}/supply_temp`, `${boiler}/power`]);
    expect(query.get("format")).toBe("csv");
    expect(await page.getByRole("textbox", { name: "curl" }).inputValue()).toContain("--get");
    expect(await page.getByRole("textbox", { name: "Python" }).inputValue()).toContain("pandas");
    expect(await page.getByRole("textbox", { name: "Link" }).inputValue()).toBe(page.url());
    expect(await seriousViolations(page)).toEqual([]);
  });

  test("tells of points that the node does not have", async () => {
    const { page } = await open(`${two}&point=gone/away`);
    await drawn(page, 0);
    await legend(page).getByText("The node has no point").waitFor();
  });

  test("draws two hundred points with a handful of requests", async () => {
    const { page } = await open("/explore?range=1h", large);
    const asked: URL[] = [];
    page.on("request", (r) => r.url().includes("/plot") && asked.push(new URL(r.url())));
    await page.getByRole("searchbox", { name: "Find points" }).fill("hall 1/device");
    await page.getByRole("button", { name: "Add 200" }).click();
    await expect.poll(() => page.locator(".extremes").count(), { timeout: 20_000 }).toBe(200);
    const curves = asked.filter((u) => u.searchParams.get("pixels") !== "10");
    expect(curves.length).toBeLessThan(8);
  });

  test("takes names for text and nothing else", async () => {
    const points = attacks.map((a, i) => `point=${encodeURIComponent(`hostile ${i}/${a}/${a}`)}`);
    const { page, complaints } = await open(`/explore?${points.join("&")}&range=1h`, hostile);
    await drawn(page, 0);
    await page.getByRole("searchbox", { name: "Find points" }).fill("img");
    await page.getByRole("button", { name: "Download or copy…" }).click();
    await page.getByRole("button", { name: "Close" }).click();
    await page.getByRole("button", { name: "Table" }).click();
    await page.getByRole("columnheader").nth(1).waitFor();
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await page.locator("img, iframe, object, style, script:not([src])").count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  test("fits a phone, where a finger moves it", async () => {
    const { page } = await open(two, building, { browser: phone });
    await drawn(page, 0);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    const box = await page.locator(".u-over").boundingBox();
    if (!box) throw new Error("the plot has no box");
    const y = box.y + box.height / 2;
    const touch = await page.context().newCDPSession(page);
    const send = (type: string, x?: number) =>
      touch.send("Input.dispatchTouchEvent", {
        type: type as "touchStart",
        touchPoints: x === undefined ? [] : [{ x: box.x + box.width * x, y }],
      });
    await send("touchStart", 0.2);
    for (const x of [0.3, 0.4, 0.5, 0.6, 0.7]) await send("touchMove", x);
    await send("touchEnd");
    const hoursBack = async () => (Date.now() - (await bounds(page))[1]) / 3_600_000;
    await expect.poll(hoursBack).toBeGreaterThan(8);
  });
});
