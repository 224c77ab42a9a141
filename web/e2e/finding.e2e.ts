// Finding what one looks for: the palette, names with descriptions first, and the search on Site.

import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { building, hostile } from "./sites";

const open = useBrowser();
const shots = process.env.VOLTBUS_SHOTS;
const narrow = { ...phone, viewport: { width: 320, height: 640 } };

const field = (page: Page) =>
  page.getByRole("combobox", { name: "A point, device, screen or action" });
const active = (page: Page) => page.locator("[role=option][aria-selected=true]");
const shot = async (page: Page, name: string) =>
  shots && (await page.screenshot({ path: `${shots}/finding-${name}.png` }));

describe("the palette", () => {
  test("goes to screens, devices and points by keyboard only", async () => {
    const { page, complaints } = await open({ site: building, address: "/site" });
    await page.getByRole("searchbox", { name: "Filter points" }).focus();
    await page.keyboard.press("Control+k");
    await field(page).waitFor();
    await shot(page, "palette");
    await page.keyboard.type("zone 3 co2");
    await expect.poll(() => active(page).textContent()).toContain("campus/hq/floor 1/zone 3/co2");
    const described = await page.evaluate(() => {
      const input = document.activeElement;
      const id = input?.getAttribute("aria-activedescendant") ?? "";
      return `${input?.getAttribute("role")}: ${document.getElementById(id)?.textContent}`;
    });
    expect(described).toMatch(/^combobox: .*campus\/hq\/floor 1\/zone 3\/co2/);
    expect(await seriousViolations(page)).toEqual([]);
    await shot(page, "palette-points");
    await page.keyboard.press("Enter");
    await expect
      .poll(() => new URL(page.url()).pathname)
      .toBe("/point/campus/hq/floor%201/zone%203/co2");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("audit");
    await expect.poll(() => active(page).textContent()).toContain("Audit");
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).pathname).toBe("/audit");
    expect(complaints.filter((c) => !/status of 404/.test(c))).toEqual([]);
  });

  test("takes what is typed before its code is there", async () => {
    const { page } = await open({ site: building, address: "/nowhere" });
    let come: (() => void) | undefined;
    await page.route("**/assets/palette-*.js", async (route) => {
      await new Promise<void>((resolve) => {
        come = resolve;
      });
      await route.continue();
    });
    await page.getByRole("heading", { name: "There is no such screen" }).waitFor();
    await page.keyboard.press("Control+k");
    await page.keyboard.type("dax");
    await page.keyboard.press("Backspace");
    await page.keyboard.type("rk c");
    await expect.poll(() => come).toBeDefined();
    come?.();
    await expect.poll(() => active(page).textContent()).toContain("Dark colours");
    expect(await field(page).inputValue()).toBe("dark c");
    await page.keyboard.type("o");
    await expect.poll(() => field(page).inputValue()).toBe("dark co");
  });

  test("does what it offers, and goes back with Escape", async () => {
    const { page } = await open({ site: building, address: "/site" });
    await page.keyboard.press("Control+k");
    await page.keyboard.type("dark");
    await expect.poll(() => active(page).textContent()).toContain("Dark colours");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
    await page.keyboard.press("Control+k");
    await page.keyboard.type("set a point");
    await expect.poll(() => active(page).textContent()).toContain("Set a point…");
    await page.keyboard.press("Enter");
    await page.getByRole("combobox", { name: "Which point?" }).waitFor();
    await page.keyboard.press("Backspace");
    await field(page).waitFor();
    await page.keyboard.press("Escape");
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
  });

  test("opens dashboards and saved views by the names that people gave them", async () => {
    const at = new Date().toISOString();
    const { page } = await open({
      site: building,
      address: "/site",
      handlers: {
        "GET dashboards": () => ({
          dashboards: [
            {
              name: "plant",
              title: "Boiler plant",
              sharing: "all",
              tiles: 3,
              version: 1,
              by: "person:ann",
              at,
              wrong: "",
            },
            {
              name: "plant",
              title: "Night round",
              sharing: "owner",
              tiles: 1,
              version: 1,
              by: "person:ann",
              at,
              wrong: "",
            },
          ],
        }),
        "GET views": () => ({
          views: [
            {
              name: "Heat of the week",
              link: "/explore?point=campus%2Fhq%2Fah&range=7d",
              note: "",
              by: "person:ann",
              at,
              version: 1,
            },
            {
              name: "Elsewhere",
              link: "https://example.com/",
              note: "",
              by: "person:ann",
              at,
              version: 1,
            },
          ],
        }),
        "GET documents": () => ({
          documents: [
            {
              owner: "shared",
              name: "dashboards/plant",
              version: 1,
              by: "person:ann",
              at,
              size: 1,
            },
            { owner: "shared", name: "views/heat", version: 1, by: "person:ann", at, size: 1 },
            { owner: "shared", name: "round of plant", version: 1, by: "person:ann", at, size: 1 },
          ],
        }),
      },
    });
    const jump = async (words: string, to: string) => {
      await page.keyboard.press("Control+k");
      await field(page).waitFor();
      await page.keyboard.type(words);
      await expect.poll(() => active(page).textContent()).toContain(to);
    };
    await jump("boiler plant", "Boiler plantdashboard");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toMatch(/\/dashboards\/plant\?all$/);
    await jump("night", "Night roundown dashboard");
    await page.keyboard.press("Enter");
    await expect.poll(() => page.url()).toMatch(/\/dashboards\/plant\?own$/);
    await jump("elsewhere", "Elsewheresaved view");
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).pathname).toBe("/explore");
    await jump("heat week", "Heat of the weeksaved view");
    await page.keyboard.press("Enter");
    await expect.poll(() => new URL(page.url()).search).toContain("campus%2Fhq%2Fah");
    await page.keyboard.press("Control+k");
    await field(page).waitFor();
    await page.keyboard.type("plant");
    await page.getByRole("option", { name: /round of plant/ }).waitFor();
    expect(await page.getByRole("option", { name: /dashboards\/plant/ }).count()).toBe(0);
    await shot(page, "palette-saved");
  });

  test("leaves out what an account may not do", async () => {
    const { page } = await open({ site: building, address: "/", role: "viewer" });
    await page.keyboard.press("Control+k");
    await field(page).waitFor();
    await page.getByRole("option", { name: "Log out" }).waitFor();
    for (const name of ["Set a point…", "Add a device…", "Audit", "Settings"])
      expect(await page.getByRole("option", { name }).count()).toBe(0);
  });

  test("shows hostile names as text, and fits the narrowest phone", async () => {
    const { page, complaints } = await open({ site: hostile, address: "/", browser: narrow });
    await page.getByRole("button", { name: "Jump to a point, device" }).tap();
    await field(page).fill("hostile <img");
    await expect.poll(() => page.getByRole("option").count()).toBeGreaterThan(2);
    expect(await page.evaluate(() => "pwned" in window)).toBe(false);
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    await shot(page, "palette-phone");
    const palette = page.getByRole("dialog", { name: "Jump to" });
    await palette.getByRole("button", { name: "Close" }).tap();
    await expect.poll(() => page.getByRole("dialog").count()).toBe(0);
    await shot(page, "home-phone");
    expect(complaints.filter((c) => !/status of 404/.test(c))).toEqual([]);
  });
});

describe("the search on Site", () => {
  test("lists what the tree beside it shows", async () => {
    const { page } = await open({ site: building, address: "/site?branch=campus%2Fhq%2Fahu1" });
    await page.getByRole("searchbox", { name: "Filter points" }).fill("zone 3 co2");
    await page.getByText("Nothing below campus/hq/ahu1; these are elsewhere.").waitFor();
    await page
      .getByRole("region", { name: "Live values" })
      .getByRole("row", { name: "campus/hq/floor 1/zone 3/co2" })
      .waitFor();
    await shot(page, "site");
    await page.getByRole("searchbox", { name: "Filter points" }).fill("nothing has this");
    await page.getByText("No point has all these words.").waitFor();
  });

  test("gives names their room, and descriptions before paths", async () => {
    for (const [name, width] of [
      ["wide", 1920],
      ["laptop", 1440],
      ["phone", 390],
    ] as const) {
      const browser = name === "phone" ? phone : { viewport: { width, height: 900 } };
      const { page } = await open({ site: building, address: "/site", browser });
      const rows = page.getByRole("region", { name: "Live values" }).getByRole("row");
      await rows.nth(2).waitFor();
      const [names = 0, cut = []] = await page.evaluate(() => {
        const heads = document.querySelectorAll(".points thead th");
        const whats = [...document.querySelectorAll(".points .point-what")];
        const short = whats.filter((e) => (e.textContent ?? "").length <= 20);
        const isCut = (e: Element) => e.scrollWidth > e.clientWidth + 1;
        return [heads[0]?.clientWidth, short.filter(isCut).map((e) => e.textContent)] as const;
      });
      expect(names, name).toBeGreaterThan({ wide: 500, laptop: 360, phone: 190 }[name]);
      expect(cut, name).toEqual([]);
      expect(await sidewaysScroll(page)).toBe(0);
      await shot(page, `names-${name}`);
      if (name === "phone") continue;
      await page.keyboard.press("Control+k");
      await field(page).waitFor();
      await page.keyboard.type("dark col");
      await expect.poll(() => active(page).textContent()).toContain("Dark colours");
      await page.keyboard.press("Enter");
      await expect.poll(() => page.locator("html").getAttribute("data-theme")).toBe("dark");
      await shot(page, `names-${name}-dark`);
    }
  });

  test("cuts a long path at its left", async () => {
    const { page } = await open({ site: building, address: "/site", browser: narrow });
    await page.getByRole("region", { name: "Live values" }).getByRole("row").nth(2).waitFor();
    const cut = await page.evaluate(() =>
      [...document.querySelectorAll(".points .point-where")].map((e) => {
        const range = document.createRange();
        range.selectNodeContents(e);
        const { right, left } = range.getBoundingClientRect();
        const box = e.getBoundingClientRect();
        return { end: right <= box.right + 1, cut: left < box.left - 1 };
      }),
    );
    expect(cut.every((c) => c.end)).toBe(true);
    await shot(page, "site-phone");
  });
});
