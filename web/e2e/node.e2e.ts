// Against a running node: VOLTBUS_URL is its address, VOLTBUS_TOKEN logs in.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage } from "./browser";
import { drawsPlot, fitsEverybody, logsInByLink, saysHealth, showsLiveValues } from "./promises";

const { VOLTBUS_URL: url = "", VOLTBUS_TOKEN: token = "" } = process.env;

describe.skipIf(url === "")("a running node", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  test("shows live values and a plot without a click", async () => {
    const { page, complaints } = await openPage(browser);
    await logsInByLink(page, url, token);
    await showsLiveValues(page);
    await drawsPlot(page);
    await saysHealth(page);
    await fitsEverybody(page);
    expect(complaints).toEqual([]);
  });
});
