import type { Page } from "playwright-core";
import { expect } from "vitest";
import { curvePixels } from "./browser";
import { phone, type Shot, wide } from "./shot";
import { building, hostile, large } from "./sites";
import { history } from "./stand-explore";

const boiler = "campus/plant/boiler1";
const points = ["supply_temp", "return_temp", "power", "burner"].map((p) => `${boiler}/${p}`);
const address = `/explore?${points.map((p) => `point=${p}`).join("&")}`;

async function ready(page: Page) {
  await expect.poll(() => curvePixels(page, 0), { timeout: 20_000 }).toBeGreaterThan(100);
  await page.getByRole("status", { name: "Completeness" }).getByText("omplete").waitFor();
  await page.getByRole("region", { name: "Shown points" }).getByText("°C").first().waitFor();
}

const base = { site: building, scheme: "light", handlers: history(building), ready } as const;
const draft = { documented: false } as const;
const kept = { documented: true } as const;

const hundred = large
  .slice(0, 10)
  .flatMap((u) => u.points.slice(0, 10).map((p) => `${u.path}/${p.name}`));

/** The explorer. */
export const explorer: readonly Shot[] = [
  { ...base, ...kept, name: "explorer", size: wide, address: `${address}&range=6h` },
  { ...base, ...kept, name: "explorer-phone", size: phone, address: `${address}&range=1h` },
  {
    ...base,
    ...draft,
    name: "explorer-dark",
    size: wide,
    scheme: "dark",
    address: "/explore?point=campus/weather/air temperature&range=1d&compare=day",
  },
  {
    ...base,
    ...draft,
    name: "explorer-table",
    size: wide,
    address: `${address}&range=1d&step=1h&show=table`,
    ready: (page) => page.getByRole("row").nth(10).waitFor(),
  },
  {
    ...base,
    ...draft,
    name: "explorer-steps",
    size: wide,
    address: `${address}&range=7d&step=1d&figure=max`,
    ready: (page) => expect.poll(() => curvePixels(page, 2)).toBeGreaterThan(100),
  },
  {
    ...base,
    ...draft,
    name: "explorer-take",
    size: wide,
    address: `${address}&range=1h`,
    ready: async (page) => {
      await ready(page);
      await page.getByRole("button", { name: "Download or copy…" }).click();
    },
  },
  {
    ...base,
    ...draft,
    name: "explorer-empty",
    size: wide,
    address: "/explore",
    ready: (page) => page.getByText("found").first().waitFor(),
  },
  {
    ...base,
    ...draft,
    name: "explorer-hundred",
    size: wide,
    site: large,
    handlers: history(large),
    address: `/explore?${hundred.map((p) => `point=${p}`).join("&")}&range=1h`,
    ready: (page) => expect.poll(() => page.locator(".extremes").count()).toBe(100),
  },
  {
    ...base,
    ...draft,
    name: "explorer-hostile",
    size: wide,
    site: hostile,
    handlers: history(hostile),
    address: `/explore?${hostile.map((u) => `point=${encodeURIComponent(`${u.path}/${u.points[0]?.name}`)}`).join("&")}`,
    ready: (page) => page.getByRole("columnheader").first().waitFor(),
  },
];
