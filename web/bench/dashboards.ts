// Measures in Chromium, against a real node, what a dashboard of fifty tiles costs whose points change each second.

import type { Browser } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, openPage } from "../e2e/browser";
import type { DashboardTile } from "../src/generated/api";
import { type Cost, watch } from "./cost";
import { type BenchNode, startNode } from "./node";

const program = process.env.VOLTBUS_BIN ?? "../bin/voltbus";
const watched = 15_000;
const repeats = 3;

let node: BenchNode;
let browser: Browser;

beforeAll(async () => {
  node = await startNode(program);
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await node?.end();
});

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Tiles of all kinds that move, four in a row. */
function fifty(points: readonly string[]): DashboardTile[] {
  let next = 0;
  const some = (n: number) => Array.from({ length: n }, () => points[next++ % points.length] ?? "");
  const kinds = [
    ...Array.from({ length: 20 }, () => ({ kind: "value" as const, n: 1 })),
    ...Array.from({ length: 10 }, () => ({ kind: "gauge" as const, n: 1 })),
    ...Array.from({ length: 10 }, () => ({ kind: "trend" as const, n: 3 })),
    ...Array.from({ length: 4 }, () => ({ kind: "bar" as const, n: 5 })),
    ...Array.from({ length: 3 }, () => ({ kind: "state" as const, n: 6 })),
    ...Array.from({ length: 3 }, () => ({ kind: "table" as const, n: 6 })),
  ];
  return kinds.map(({ kind, n }, i) => ({
    ...{ kind, x: (i % 4) * 3, y: Math.floor(i / 4) * 2, w: 3, h: 2, points: some(n) },
    ...(kind === "trend" ? { range: "15m" as const } : {}),
  }));
}

test("a dashboard of fifty tiles", async () => {
  const headers = { Authorization: `Bearer ${node.token}`, "Content-Type": "application/json" };
  const points = async () => {
    const answer = await fetch(`${node.url}/api/v1/points?limit=200`, { headers });
    return ((await answer.json()) as { points: { path: string }[] }).points.map((p) => p.path);
  };
  await expect.poll(async () => (await points()).length, { timeout: 20_000 }).toBe(200);
  const tiles = fifty(await points());
  const put = await fetch(`${node.url}/api/v1/dashboards`, {
    method: "PUT",
    headers,
    body: JSON.stringify({ name: "fifty", tiles }),
  });
  expect(put.status).toBe(200);

  const costs: Cost[] = [];
  for (let i = 0; i < repeats; i++) {
    const { page } = await openPage(browser);
    await page.goto(`${node.url}/dashboards/fifty?all&kiosk#token=${node.token}`);
    await expect.poll(() => page.locator(".tile").count()).toBe(50);
    await page.locator(".trend-plot canvas").nth(9).waitFor();
    await watch(page, 5000); // what a first visit costs once does not count
    costs.push(await watch(page, watched));
    await page.context().close();
  }
  const main = median(costs.map((c) => c.main));
  const all = median(costs.map((c) => c.all));
  say(
    `50 tiles at 1 Hz: page ${(main * 100).toFixed(1)} % of a core, ` +
      `all of the browser ${(all * 100).toFixed(1)} %, medians of ${repeats}`,
  );
});

const median = (figures: number[]) =>
  [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? Number.NaN;
