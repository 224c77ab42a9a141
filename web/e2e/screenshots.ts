// Makes the pictures of docs/screenshots; SCREENSHOTS names another folder.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { curvePixels, launch, openPage } from "./browser";
import { building, hostile, type Site, troubled } from "./sites";
import { Stand, token } from "./stand";

const folder = process.env.SCREENSHOTS ?? join(import.meta.dirname, "../../docs/screenshots");
const wide = { width: 1440, height: 900 };
const phone = { width: 360, height: 780 };
const boiler = "campus/plant/boiler1";
const query = `?branch=${boiler}&point=${boiler}/supply_temp&point=${boiler}/return_temp&point=${boiler}/power&range=1h`;

const shots = [
  { name: "site", size: wide, scheme: "light", site: building, query },
  { name: "phone", size: phone, scheme: "light", site: building, query },
  {
    name: "site-dark",
    size: wide,
    scheme: "dark",
    site: troubled,
    query: query.replace(boiler, "campus"),
  },
  { name: "phone-dark", size: phone, scheme: "dark", site: troubled, query },
  { name: "laptop", size: { width: 1024, height: 768 }, scheme: "light", site: troubled, query },
  { name: "hostile", size: wide, scheme: "light", site: hostile, query: "?branch=hostile 1" },
] as const satisfies {
  name: string;
  size: typeof wide;
  scheme: "light" | "dark";
  site: Site;
  query: string;
}[];

/** Only the first two belong into the documentation. */
const wanted = process.env.SCREENSHOTS ? shots : shots.slice(0, 2);

test.each(wanted)("$name", async ({ name, size, scheme, site, query: search }) => {
  mkdirSync(folder, { recursive: true });
  const stand = new Stand(site);
  await stand.start();
  const browser = await launch();
  try {
    const { page } = await openPage(browser, { viewport: size, colorScheme: scheme });
    await page.goto(`${stand.url}/${search}#token=${token}`);
    if (search.includes("point="))
      await expect.poll(() => curvePixels(page, 0)).toBeGreaterThan(100);
    await page.getByRole("status", { name: "Health" }).getByText("sample").waitFor();
    await page.getByRole("region", { name: "Live values" }).getByText("now").first().waitFor();
    const fullPage = size.width < 1200 && process.env.SCREENSHOTS !== undefined;
    await page.screenshot({ path: join(folder, `${name}.png`), fullPage });
  } finally {
    await browser.close();
    await stand.stop();
  }
});
