// What the first script asks for while the code of a screen still comes is what that screen shows: none is asked for in vain.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, openPage } from "./browser";
import { startDemo } from "./demo";

const { url, token } = await startDemo();
let browser: Browser;

beforeAll(async () => {
  browser = await launch();
});

afterAll(() => browser.close());

test.skipIf(url === "")("a login that the network lost is tried again", async () => {
  const { page } = await openPage(browser);
  let asked = 0;
  await page.route("**/api/v1/session", (route) => {
    const isFirst = route.request().method() === "POST" && asked++ === 0;
    return isFirst ? route.abort() : route.continue();
  });
  await page.goto(`${url}/#token=${token}`);
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  expect(asked).toBe(2);
});

test
  .skipIf(url === "")
  .each(["/", "/site", "/explore", "/alarms", "/control", "/timeline", "/nodes", "/settings"])(
  "%s takes each answer that was asked for ahead",
  async (path) => {
    const { page, complaints } = await openPage(browser);
    const asked: string[] = [];
    page.on("request", (request) => {
      const address = request.url().replace(`${url}/api/v1/`, "");
      if (address !== request.url()) asked.push(`${request.method()} ${address}`);
    });
    await page.goto(`${url}${path}#token=${token}`);
    await expect
      .poll(() => page.evaluate(() => [...(globalThis.voltbusFirst?.answers.keys() ?? [])]))
      .toEqual([]);
    expect(asked).toContain("POST session");
    expect(asked.filter((a) => a === "GET session").length).toBe(1);
    expect(complaints).toEqual([]);
  },
);
