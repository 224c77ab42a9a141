// The installed page: its manifest, what the service worker keeps, and what it says while the node is away.

import { describe, expect, test } from "vitest";
import { seriousViolations, sidewaysScroll } from "./browser";
import { phone, useBrowser } from "./harness";
import { building } from "./sites";
import { AlarmStand, some } from "./stand-alarms";

const open = useBrowser();
const shots = process.env.VOLTBUS_SHOTS;

async function installed() {
  const stand = new AlarmStand(some());
  const opened = await open({
    site: building,
    address: "/alarms",
    handlers: stand.handlers,
    browser: { ...phone, serviceWorkers: "allow" },
  });
  await opened.page.evaluate(() => navigator.serviceWorker.ready);
  await opened.page.waitForFunction(() => navigator.serviceWorker.controller !== null);
  return { stand, ...opened };
}

describe("the installed page", () => {
  test("says while the node is away since when, what was so then, and opens when it is back", async () => {
    const { page, node, complaints } = await installed();
    await page.getByText("The supply air is too hot").waitFor();
    await page.waitForFunction(() => localStorage.getItem("voltbus:last")?.includes("too hot"));
    await page.reload(); // its parts come through the worker, which keeps them
    await page.getByText("The supply air is too hot").waitFor();
    await node.stop();
    await page.reload();
    await page.getByRole("heading", { name: "The node is not reachable" }).waitFor();
    await page.getByText(/This browser heard from it last at .*20\d\d/).waitFor();
    await page.getByText("critical: The supply air is too hot, active, not acknowledged").waitFor();
    await page.getByText("Nothing here is live.").waitFor();
    expect(await page.getByText("zone4").count()).toBe(0); // it was shelved
    expect(await sidewaysScroll(page)).toBe(0);
    expect(await seriousViolations(page)).toEqual([]);
    if (shots) await page.screenshot({ path: `${shots}/offline.png` });
    await page.emulateMedia({ colorScheme: "dark" });
    if (shots) await page.screenshot({ path: `${shots}/offline-dark.png` });
    expect(await seriousViolations(page)).toEqual([]);
    await node.start();
    await page.getByRole("button", { name: "Ask again now" }).click();
    await page.getByText("The supply air is too hot", { exact: true }).waitFor();
    expect(complaints.filter((c) => !/ERR_CONNECTION_REFUSED|Failed to fetch/.test(c))).toEqual([]);
  });

  test("keeps parts with a hash and the offline page, and no answer of the node", async () => {
    const { page } = await installed();
    await page.reload();
    await page.getByText("The supply air is too hot").waitFor();
    const kept = await page.evaluate(async () => {
      const list: string[] = [];
      for (const name of await caches.keys())
        for (const request of await (await caches.open(name)).keys())
          list.push(new URL(request.url).pathname);
      return list;
    });
    expect(kept).toContain("/offline.html");
    expect(kept.some((path) => path.startsWith("/assets/"))).toBe(true);
    expect(kept.filter((path) => !/^\/(assets\/.+-.+|offline\.\w+|icon\.svg)$/.test(path))).toEqual(
      [],
    );
  });

  test("forgets what was heard when somebody logs out", async () => {
    const { page } = await installed();
    await page.waitForFunction(() => localStorage.getItem("voltbus:last") !== null);
    await page.getByRole("button", { name: "More" }).click();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByLabel(/token/i).first().waitFor();
    expect(await page.evaluate(() => localStorage.getItem("voltbus:last"))).toBeNull();
  });

  test("can be installed", async () => {
    const { page, node } = await installed();
    const answer = await page.request.get(`${node.url}/manifest.webmanifest`);
    const manifest = (await answer.json()) as { icons: { src: string; sizes: string }[] };
    for (const icon of manifest.icons) {
      const size = await page.evaluate(async (src) => {
        const image = new Image();
        image.src = src;
        await image.decode();
        return `${image.naturalWidth}x${image.naturalHeight}`;
      }, icon.src);
      if (icon.sizes !== "any") expect(size).toBe(icon.sizes);
    }
    const client = await page.context().newCDPSession(page);
    const { installabilityErrors } = (await client.send("Page.getInstallabilityErrors")) as {
      installabilityErrors: { errorId: string }[];
    };
    // A browser of tests has no profile that lasts
    expect(
      installabilityErrors.map((e) => e.errorId).filter((id) => id !== "in-incognito"),
    ).toEqual([]);
  });
});
