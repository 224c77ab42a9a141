// BACnet devices that a fresh node finds in its subnet. Broadcasts need a network of the test's own: it runs itself again in one, as root.

import { execFileSync, spawnSync } from "node:child_process";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Beginning, program, root, shoot } from "./beginning";
import { launch, openPage, seriousViolations, sidewaysScroll } from "./browser";

const inside = process.env.VOLTBUS_TEST_NAMESPACE === "bacnet.e2e";
const possible = program !== "" && process.getuid?.() === 0;
const patient = { timeout: 60_000 };

describe.skipIf(!possible || inside)("devices of a subnet", () => {
  test("are walked through, in a network of the test's own", { timeout: 360_000 }, () => {
    const again = spawnSync(
      "unshare",
      ["-n", "npx", "vitest", "run", "--config", "e2e/vitest.config.ts", "e2e/bacnet.e2e.ts"],
      {
        cwd: join(root, "web"),
        env: { ...process.env, VOLTBUS_TEST_NAMESPACE: "bacnet.e2e" },
        encoding: "utf8",
      },
    );
    expect(again.status, again.stdout + again.stderr).toBe(0);
    expect(again.stdout).toMatch(/5 passed/);
  });
});

const ip = (words: string) => execFileSync("ip", words.split(" "));

/** Connects the device with the trend log, or cuts it off: it goes on, and what is sent to it is dropped. */
function reachable(there: boolean): void {
  if (there) {
    ip("route del blackhole 10.66.0.11/32 table local");
    ip("addr add 10.66.0.11/24 brd + dev lo");
  } else {
    ip("addr del 10.66.0.11/24 dev lo");
    ip("route add blackhole 10.66.0.11/32 table local");
  }
}

/** The hosts of a further twenty devices. */
const floors = Array.from({ length: 20 }, (_, i) => 21 + i);

interface Sample {
  time: number;
  quality: string;
}

/** The samples with a value of a point, as the page asks for them. */
async function recorded(page: Page, begin: Beginning, point: string, from: number) {
  const query = new URLSearchParams({ point, limit: "10000", from: new Date(from).toISOString() });
  query.set("to", new Date(Date.now() + 60_000).toISOString());
  const headers = { Authorization: `Bearer ${begin.token}` };
  const answer = await page.request.get(`${begin.url}/api/v1/range?${query}`, { headers });
  const { series } = (await answer.json()) as { series: { samples?: unknown[][] }[] };
  const rows = (series[0]?.samples ?? []) as [number, unknown, string?][];
  return rows
    .filter(([, value]) => value !== null)
    .map(([time, , quality = ""]): Sample => ({ time, quality }));
}

const longestPause = (samples: Sample[]) =>
  Math.max(...samples.slice(1).map((s, i) => s.time - (samples[i]?.time ?? 0)));

describe.skipIf(!possible || !inside)("a fresh node in a subnet with devices of bacpypes3", () => {
  let browser: Browser;
  let begin: Beginning;
  let page: Page;
  let complaints: string[];
  let site: { say(line: string): void };

  beforeAll(async () => {
    ip("link set lo up");
    for (const n of [2, 11, 12, ...floors]) ip(`addr add 10.66.0.${n}/24 brd + dev lo`);
    begin = await Beginning.in("bacnet");
    site = await begin.peer("bacnet_site.py", "10.66.0.11/24", "11");
    await begin.peer("bacnet_peer.py", "plant", "10.66.0.12/24", "12", "480", "5");
    const [first = "", ...others] = floors.map((n) => `10.66.0.${n}/24`);
    await begin.peer("bacnet_peer.py", "plant", first, "21", "480", "5", ...others);
    await begin.node();
    browser = await launch();
    ({ page, complaints } = await openPage(browser));
  }, 120_000);
  afterAll(async () => {
    await browser?.close();
    await begin?.end();
  });

  test("finds them, adds one, and shows its points with names and units", patient, async () => {
    const device = await begin.firstDevice(page);
    await device.getByRole("radio", { name: /A BACnet device/ }).check();
    await device.getByLabel("Own address").fill("10.66.0.2/24");
    await device.getByRole("button", { name: "Find devices" }).click();
    await device.getByText("22 devices found.").waitFor();
    await device.getByRole("checkbox", { name: /device 12 at 10\.66\.0\.12/ }).waitFor();
    await device.getByRole("checkbox", { name: /device 11 at 10\.66\.0\.11/ }).check();
    expect(await device.getByLabel("Instance").inputValue()).toBe("11");
    expect(await seriousViolations(page)).toEqual([]);
    await shoot(page, "bacnet");
    await device.getByRole("button", { name: "Try it" }).click();
    await device.getByText(/^It answers within .* with \d+ points\.$/).waitFor();
    await device.getByRole("button", { name: "Add the device" }).click();
    await page.getByText(/site_11 is added\./).waitFor();
    await page.getByRole("link", { name: "Open the device" }).click();
    await page.getByText(/^Answers; read/).waitFor();
    for (const [name, value] of [
      ["watched", "20 °C"],
      ["Zone_Setpoint", "21 °C"],
    ])
      await expect
        .poll(() => page.getByRole("main").textContent(), { timeout: 30_000 })
        .toContain(`${name}${value}`);
    expect(await seriousViolations(page)).toEqual([]);
    await shoot(page, "bacnet-device");
    expect(complaints).toEqual([]);
  });

  test(
    "commands a setpoint at priority 8, shows it in the device, and relinquishes it",
    patient,
    async () => {
      await page
        .getByRole("main")
        .getByRole("link", { name: /Zone_Setpoint/ })
        .first()
        .click();
      const array = page.getByRole("region", { name: "Priority array" });
      const follows = array.getByRole("status");
      await follows
        .getByText(
          "No system commands it in the device, which follows its relinquish default, 21 °C.",
        )
        .waitFor();
      const set = page.getByRole("form", { name: "Set the point" });
      await set.getByLabel(/^Value/).fill("23.5");
      expect(await set.getByLabel("Level").inputValue()).toBe("8");
      await set.getByRole("button", { name: "Set…" }).click();
      await page.getByRole("button", { name: "Set it now" }).click();
      await page.getByText("Done: the device reports 23.5 °C.").waitFor();
      await follows
        .getByText("The device follows this node, at level 8 (manual operator).")
        .waitFor();
      await array
        .getByRole("row", { name: /^8 Manual operator 23\.5 °C 23\.5 °C counts you/ })
        .waitFor();
      await array.getByRole("row", { name: /^Relinquish default none 21 °C/ }).waitFor();
      // Another system goes before it: the page says so when the device is asked again
      site.say("command 5 17");
      await page.reload();
      await follows
        .getByText(/The device follows another system, at level 5 .*, before level 8/)
        .waitFor();
      await array
        .getByRole("row", { name: /^5 Critical equipment control – 17 °C another system/ })
        .waitFor();
      expect(await seriousViolations(page)).toEqual([]);
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await sidewaysScroll(page)).toBe(0);
      await page.setViewportSize({ width: 1440, height: 900 });
      await shoot(page, "bacnet-point");
      site.say("relinquish 5");
      await page.getByRole("button", { name: "Release level 8 of person:ann" }).click();
      await page.getByRole("button", { name: "Release it" }).click();
      await follows.getByText(/^No system commands it in the device/).waitFor();
      await array.getByRole("row", { name: /^8 Manual operator – –/ }).waitFor();
      expect(complaints).toEqual([]);
    },
  );

  // The hour of the outage is compressed to some scans: the device logs four times a second and is read once a second.
  test(
    "has no hole in the trend of a device that was cut off for eight scans",
    patient,
    async () => {
      const point = "campus/site_11/counter";
      await expect
        .poll(async () => (await recorded(page, begin, point, 0)).length)
        .toBeGreaterThan(3);
      await page.goto(`${begin.url}/device/campus/site_11`);
      reachable(false);
      const away = Date.now();
      await page.getByText(/^Does not answer; last read/).waitFor();
      await shoot(page, "bacnet-away");
      const rows = () => recorded(page, begin, point, 0);
      await expect.poll(() => Date.now() - away, patient).toBeGreaterThan(8000);
      expect((await rows()).some((s) => s.quality === "good(backfilled)")).toBe(false);
      reachable(true);
      await page.getByText(/^Answers; read/).waitFor(patient);
      const isFilled = (s: Sample) => s.quality === "good(backfilled)";
      await expect
        .poll(async () => (await rows()).filter(isFilled).length, patient)
        .toBeGreaterThan(16);
      expect(longestPause(await rows())).toBeLessThan(2500);
      await page.goto(
        `${begin.url}/explore?point=${encodeURIComponent(point)}&range=1h&show=table`,
      );
      await page.getByText(/^Values in italics are from the log of the device/).waitFor();
      await shoot(page, "bacnet-trend");
      await page.goto(`${begin.url}/explore?point=${encodeURIComponent(point)}&range=1h`);
      await page.getByRole("application", { name: /^Plot of / }).waitFor();
      await shoot(page, "bacnet-curve");
    },
  );

  test(
    "adds the rest of the subnet in one change, and a later search tells that nothing is new",
    patient,
    async () => {
      await page.goto(`${begin.url}/settings`);
      await page.getByRole("link", { name: "Find and add devices" }).click();
      const device = page.getByRole("form", { name: "First device" });
      await device.getByLabel("Name of the site").fill("campus");
      await device.getByRole("radio", { name: /A BACnet device/ }).check();
      await device.getByLabel("Own address").fill("10.66.0.2/24");
      await device.getByRole("button", { name: "Find devices" }).click();
      await device.getByText("22 devices found, 21 of them new.").waitFor();
      const table = device.getByRole("region", { name: "Table of devices" });
      await table
        .getByRole("row", { name: /device_12 12 10\.66\.0\.12 BACpypes N\/A \d+ new$/ })
        .waitFor();
      await table.getByRole("row", { name: /added as campus\/site_11/ }).waitFor();
      await table.getByRole("checkbox", { name: "All new devices" }).check();
      expect(await seriousViolations(page)).toEqual([]);
      await shoot(page, "bacnet-several");
      await device.getByRole("button", { name: "Add 21 devices" }).click();
      await device.getByText(/^21 devices added with 231 points\./).waitFor();
      await device.getByText(/points got the tag haystack_guess/).waitFor();
      await device.getByText("22 devices found, 0 of them new.").waitFor();
      await table.getByRole("row", { name: /added as campus\/device_40$/ }).waitFor();
      await device.getByRole("button", { name: "Compare 22 added devices" }).click();
      await table.getByRole("row", { name: /added as campus\/device_40; unchanged/ }).waitFor();
      await page.setViewportSize({ width: 390, height: 844 });
      expect(await sidewaysScroll(page)).toBe(0);
      await page.setViewportSize({ width: 1440, height: 900 });
      expect(await seriousViolations(page)).toEqual([]);
      await shoot(page, "bacnet-several-added");
      await page.goto(`${begin.url}/device/campus/device_40`);
      await page.getByText(/^Answers; read/).waitFor();
    },
  );

  test("has shown no error but that of a device that was away", () => {
    expect(complaints.filter((c) => !/status of 50\d/.test(c))).toEqual([]);
  });
});
