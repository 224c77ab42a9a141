// Makes the pictures of docs/screenshots. SCREENSHOTS names another folder, which then gets all
// pictures, also those that are only for looking at; ONLY selects by a part of the name.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { launch, openPage } from "./browser";
import { contextOf } from "./shot";
import { shots } from "./shots";
import { Stand, token } from "./stand";

const { SCREENSHOTS: given, ONLY: only = "" } = process.env;
const folder = given ?? join(import.meta.dirname, "../../docs/screenshots");
const wanted = shots.filter((s) => (given || s.documented) && s.name.includes(only));

test.each(wanted)("$name", async (shot) => {
  mkdirSync(folder, { recursive: true });
  const stand = new Stand(shot.site);
  Object.assign(stand.handlers, shot.handlers);
  shot.began?.(stand);
  await stand.start();
  const browser = await launch();
  try {
    const { page } = await openPage(browser, contextOf(shot));
    await page.goto(`${stand.url}${shot.address}#token=${token}`);
    await shot.ready(page);
    const fullPage = shot.size.width < 1200 && !shot.documented;
    await page.screenshot({ path: join(folder, `${shot.name}.png`), fullPage });
  } finally {
    await browser.close();
    await stand.stop();
  }
});
