// Measures in Chromium, against a real node, how fast the screens are. VOLTBUS_BIN is the program.
// The README beside this file says what and how.

import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, test } from "vitest";
import { launch, openPage } from "../e2e/browser";
import { watch } from "./cost";
import { type BenchNode, fill, monthPoint, startNode } from "./node";

const repeats = Number(process.env.REPEATS ?? 10);
const program = process.env.VOLTBUS_BIN ?? "../bin/voltbus";

let node: BenchNode;
let browser: Browser;

beforeAll(async () => {
  node = await startNode(program);
  await fill(node);
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  await node?.end();
});

const say = (line: string) => process.stdout.write(`${line}\n`);

/** Median and greatest of figures. */
function told(figures: number[]): string {
  const worst = Math.max(...figures);
  return `median ${median(figures).toFixed(0)} ms, worst ${worst.toFixed(0)} ms of ${figures.length}`;
}

const median = (figures: number[]) =>
  [...figures].sort((a, b) => a - b)[figures.length >> 1] ?? Number.NaN;

/** Opens the explorer without points, with the search filled in. */
async function openExplorer(range: string, search: string): Promise<Page> {
  const { page } = await openPage(browser);
  await page.goto(`${node.url}/explore?range=${range}#token=${node.token}`);
  await page.getByRole("searchbox", { name: "Find points" }).fill(search);
  await page.getByRole("list", { name: "Found points" }).getByRole("listitem").first().waitFor();
  return page;
}

/** Where the milliseconds from the click to the drawn frame went. */
interface Wait {
  /** From the click to the frame in which all curves are drawn. */
  total: number;
  /** From the click until the first request for history leaves. */
  before: number;
  /** From there until the first byte of the last answer: the node's work. */
  node: number;
  /** From there until the last byte has arrived. */
  arriving: number;
  /** From there until the frame is drawn. */
  drawing: number;
  /** Requests for history, and the bytes of their answers. */
  requests: number;
  bytes: number;
}

/** Waits from the next click until so many curves are known, and drawn in a frame. */
const fromClickToDrawn = (page: Page, curves: number): Promise<Wait> =>
  page.evaluate(
    (wanted) =>
      new Promise<Wait>((resolve) => {
        const split = (begin: number): Wait => {
          const end = performance.now();
          const asked = performance
            .getEntriesByType("resource")
            .filter((r): r is PerformanceResourceTiming => r instanceof PerformanceResourceTiming)
            .filter((r) => r.name.includes("/api/v1/plot") && r.startTime >= begin);
          const sent = Math.min(...asked.map((r) => r.startTime));
          const answered = Math.max(...asked.map((r) => r.responseStart));
          const arrived = Math.max(...asked.map((r) => r.responseEnd));
          return {
            total: end - begin,
            before: sent - begin,
            node: answered - sent,
            arriving: arrived - answered,
            drawing: end - arrived,
            requests: asked.length,
            bytes: asked.reduce((sum, r) => sum + r.decodedBodySize, 0),
          };
        };
        const look = (begin: number) => {
          if (document.querySelectorAll(".extremes").length < wanted) {
            requestAnimationFrame(() => look(begin));
          } else requestAnimationFrame(() => setTimeout(() => resolve(split(begin))));
        };
        document.addEventListener("click", (e) => look(e.timeStamp), { once: true, capture: true });
      }),
    curves,
  );

/** Says the whole wait, and the median of each of its parts. */
function sayWaits(what: string, waits: Wait[]): void {
  say(`${what}, click to drawn: ${told(waits.map((w) => w.total))}`);
  const parts = (["before", "node", "arriving", "drawing", "requests", "bytes"] as const).map(
    (part) => `${part} ${median(waits.map((w) => w[part])).toFixed(0)}`,
  );
  say(`  of it, in ms: ${parts.join(", ")}`);
}

test("a month of one point", async () => {
  const waits: Wait[] = [];
  for (let i = 0; i < repeats; i++) {
    const page = await openExplorer("30d", "month");
    const drawn = fromClickToDrawn(page, 1);
    await page.getByRole("checkbox", { name: monthPoint }).click();
    waits.push(await drawn);
    await page.context().close();
  }
  sayWaits("a month of one point (43,200 samples)", waits);
});

test("a day of a hundred points", async () => {
  const waits: Wait[] = [];
  for (let i = 0; i < repeats; i++) {
    const page = await openExplorer("1d", "day/point");
    const drawn = fromClickToDrawn(page, 100);
    await page.getByRole("button", { name: "Add 100" }).click();
    waits.push(await drawn);
    await page.context().close();
  }
  sayWaits("a day of 100 points (144,000 samples)", waits);
});

/** How long this machine takes for a hundred million additions, in milliseconds: by that, figures of different hours compare. */
function yardstick(): number {
  const begun = performance.now();
  let sum = 0;
  for (let i = 0; i < 100_000_000; i++) sum = (sum + i) | 0;
  return sum === 0 ? Number.NaN : performance.now() - begun;
}

/** Who opens a screen for the first time: somebody whose browser is logged in, or who follows the link with the token. */
type Way = "logged in" | "by the link";

const phone = { width: 390, height: 844 };

declare global {
  /** Takes from the page when it has painted its heading. */
  var tellPainted: (ms: number) => void;
}

/** Has the page tell when the frame with the heading of the screen was painted, in ms since the browser was told to go there. */
const watchHeading = (page: Page, heading: string) =>
  page.addInitScript((wanted) => {
    const isThere = () =>
      [...document.querySelectorAll("h1, h2")].some((h) => h.textContent?.includes(wanted));
    const watch = new MutationObserver(() => {
      if (!isThere()) return;
      watch.disconnect();
      requestAnimationFrame(() => setTimeout(() => globalThis.tellPainted(performance.now())));
    });
    watch.observe(document, { subtree: true, childList: true, characterData: true });
  }, heading);

/** Opens a screen for the first time on a slow telephone: 1.6 Mbit/s, 150 ms, a quarter of the processor. */
async function firstLoad(way: Way, path: string, heading: string) {
  const { page } = await openPage(browser, { viewport: phone });
  if (way === "logged in") {
    const { token } = node;
    await page.request.post(`${node.url}/api/v1/session`, { data: { token } });
  }
  const session = await page.context().newCDPSession(page);
  await session.send("Network.enable");
  await session.send("Network.emulateNetworkConditions", {
    offline: false,
    latency: 150,
    downloadThroughput: 200_000,
    uploadThroughput: 94_000,
  });
  await session.send("Emulation.setCPUThrottlingRate", { rate: 4 });
  let bytes = 0;
  session.on("Network.loadingFinished", (e) => {
    bytes += e.encodedDataLength;
  });
  // To ask the page again and again would cost it time of its slow processor
  const painted = new Promise<number>((tell) => page.exposeFunction("tellPainted", tell));
  await watchHeading(page, heading);
  const fragment = way === "by the link" ? `#token=${node.token}` : "";
  await page.goto(`${node.url}${path}${fragment}`, { waitUntil: "commit" });
  const ms = await painted;
  await page.context().close();
  return { ms, bytes };
}

test.each(["logged in", "by the link"] as const)(
  "the first load on a slow telephone, %s",
  async (way) => {
    say(`This machine: ${yardstick().toFixed(0)} ms for a hundred million additions`);
    for (const [path, heading] of [
      ["/", "Overview"],
      ["/site", "Site"],
      ["/explore", "Explore"],
      ["/alarms", "Alarms"],
      ["/control", "Control"],
      ["/timeline", "What happened"],
      ["/nodes", "Nodes"],
      ["/settings", "Settings"],
    ] as const) {
      const loads: { ms: number; bytes: number }[] = [];
      for (let i = 0; i < repeats; i++) loads.push(await firstLoad(way, path, heading));
      const size = median(loads.map((l) => l.bytes)) / 1000;
      const times = told(loads.map((l) => l.ms));
      say(`${heading}, first load, ${way}: ${times}, ${size.toFixed(1)} kB over the wire`);
    }
  },
);

const flood = 10_000;

/** Raises ten thousand alarms within ten seconds. */
async function raise(): Promise<void> {
  const headers = { Authorization: `Bearer ${node.token}`, "Content-Type": "application/json" };
  const send = async (method: string, resource: string, body: unknown) => {
    const answer = await fetch(`${node.url}/api/v1/${resource}`, {
      ...{ method, headers, body: JSON.stringify(body) },
    });
    if (!answer.ok) throw new Error(await answer.text());
  };
  const rule = { name: "flood", points: ["flood/**"], check: "high", limit: 80, priority: "high" };
  await send("PUT", "alarms/rules", rule);
  const begun = performance.now();
  for (let i = 0; i < 10; i++) {
    const list = Array.from({ length: flood / 10 }, (_, k) => ({
      ...{ point: `flood/${i}/${k}`, value: 90, time: new Date().toISOString() },
    }));
    await send("POST", "samples", list);
    await new Promise((done) => setTimeout(done, (i + 1) * 1000 - (performance.now() - begun)));
  }
}

test("a flood of ten thousand alarms in ten seconds", async () => {
  const { page } = await openPage(browser);
  await page.goto(`${node.url}/alarms#token=${node.token}`);
  await page.getByRole("heading", { name: "Alarms", exact: true }).waitFor();
  // From the click's own time stamp to the frame that shows what it did
  await page.evaluate(() => {
    const waits: number[] = [];
    Object.assign(window, { waits });
    document.addEventListener(
      "click",
      (e) =>
        requestAnimationFrame(() => setTimeout(() => waits.push(performance.now() - e.timeStamp))),
      { capture: true },
    );
  });
  const raised = raise();
  const themes = [
    page.locator(".rail").getByRole("button", { name: "Light colours" }),
    page.locator(".rail").getByRole("button", { name: "Dark colours" }),
  ];
  const begun = performance.now();
  for (let i = 0; performance.now() - begun < 15_000; i++) await themes[i % 2]?.click();
  await raised;
  await page.getByRole("heading", { name: "10,000 open alarms" }).waitFor();
  const waits = await page.evaluate(() => (window as unknown as { waits: number[] }).waits);
  say(`a flood of 10,000 alarms in 10 s, click to frame: ${told(waits)}`);
  await page.context().close();
});

const watched = 15_000;

test("a thousand live points", async () => {
  const { page } = await openPage(browser);
  await page.goto(
    `${node.url}/site?branch=live&point=live/device1/p0&range=15m#token=${node.token}`,
  );
  await page
    .locator('section[aria-label="Live values"] td:visible', { hasText: "now" })
    .first()
    .waitFor();
  const { main, all } = await watch(page, watched);
  say(
    `1,000 live points at 1 Hz: page ${(main * 100).toFixed(1)} % of a core, ` +
      `all of the browser ${(all * 100).toFixed(1)} %`,
  );
});
