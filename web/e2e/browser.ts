import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { onTestFailed } from "vitest";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Chromium without the windows of a desktop takes half the processor time of a whole one. */
const browsers = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** Starts the system's Chromium, which talks to nobody but the pages under test. */
export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath:
      process.env.CHROMIUM ?? browsers.map((b) => `/usr/bin/${b}`).find(existsSync) ?? "chromium",
    headless: true,
    args: [
      "--no-sandbox",
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });

/** A page with what went wrong on it: exceptions, console errors, violations of the policy. */
export interface Watched {
  page: Page;
  complaints: string[];
}

/** Opens a page of its own, with nothing stored. */
export async function openPage(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  // Requests that the service worker makes are seen by no test: those that are about it let it in
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    serviceWorkers: "block",
    ...options,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("pageerror", (err) => complaints.push(String(err)));
  page.on("console", (message) => {
    // A first question "who is logged in?" may well be answered with 401, and a stand-in without
    // first steps knows nothing of them. Other tests make networks on this machine meanwhile: the
    // browser then breaks off what it loads, and the page asks again.
    const isExpected =
      /status of 401|ERR_NETWORK_CHANGED/.test(message.text()) ||
      message.location().url.endsWith("/api/v1/setup");
    if (message.type() === "error" && !isExpected) complaints.push(message.text());
  });
  tellIfFailed(page, complaints);
  return { page, complaints };
}

/** Says what a page shows, waits for and complains of when the test that opened it fails. */
function tellIfFailed(page: Page, complaints: readonly string[]): void {
  const waiting = new Set<string>();
  const failed: string[] = [];
  const nameOf = (r: { method(): string; url(): string }) => `${r.method()} ${r.url()}`;
  page.on("request", (r) => waiting.add(nameOf(r)));
  page.on("requestfinished", (r) => waiting.delete(nameOf(r)));
  page.on("requestfailed", (r) => {
    waiting.delete(nameOf(r));
    failed.push(`${nameOf(r)}: ${r.failure()?.errorText}`);
  });
  try {
    onTestFailed(async () => {
      const shown = await page
        .locator("body")
        .ariaSnapshot({ timeout: 2000 })
        .catch((err: Error) => `Nothing can be read: ${err.message}`);
      const told = { address: page.url(), waiting: [...waiting], failed, complaints };
      process.stderr.write(`The page of the failed test: ${JSON.stringify(told)}\n${shown}\n`);
    });
  } catch {
    // It is opened for several tests, outside of each
  }
}

/** Violations of accessibility rules that shut people out, with the elements concerned. */
export async function seriousViolations(page: Page): Promise<string[]> {
  await page.evaluate(axe);
  return page.evaluate(async () => {
    type Result = { id: string; impact: string; nodes: { html: string; failureSummary: string }[] };
    const runner = (globalThis as unknown as { axe: { run(): Promise<{ violations: Result[] }> } })
      .axe;
    const { violations } = await runner.run();
    return violations
      .filter((v) => v.impact === "serious" || v.impact === "critical")
      .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html}: ${n.failureSummary}`));
  });
}

/** How far the page can be scrolled sideways, in pixels. */
export const sidewaysScroll = (page: Page): Promise<number> =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** Pixels of the plot that carry the colour of curve index, each channel within a tolerance. */
export const curvePixels = (page: Page, index: number): Promise<number> =>
  page.evaluate((n) => {
    const canvas = document.querySelector("canvas");
    const context = canvas?.getContext("2d");
    if (!canvas || !context) return 0;
    const hex = getComputedStyle(document.documentElement).getPropertyValue(`--c${n}`).trim();
    const wanted = [1, 3, 5].map((i) => Number.parseInt(hex.slice(i, i + 2), 16));
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height);
    let found = 0;
    for (let i = 0; i < data.length; i += 4) {
      const close = wanted.every((w, k) => Math.abs(w - (data[i + k] ?? 0)) < 24);
      if (close && (data[i + 3] ?? 0) > 128) found++;
    }
    return found;
  }, index);

/**
 * What can be touched and is smaller than so many pixels, as "text: width × height". A link within a sentence is as high as its line (WCAG 2.2,
 * 2.5.8), and of a box with a label the label is touched.
 */
export const smallTargets = (page: Page, least: number): Promise<string[]> =>
  page.evaluate((most) => {
    const wanted =
      "a[href], button, input:not([type=hidden]), select, textarea, summary, [role=button], [role=tab], [role=treeitem] > *";
    const inSentence = (e: Element) =>
      getComputedStyle(e).display === "inline" &&
      [...(e.parentElement?.childNodes ?? [])].some(
        (n) => n.nodeType === Node.TEXT_NODE && (n.textContent ?? "").trim() !== "",
      );
    const clipped = (e: Element | null): boolean =>
      e !== null && (getComputedStyle(e).clipPath === "inset(50%)" || clipped(e.parentElement));
    const isExempt = (e: Element) =>
      !e.checkVisibility({ visibilityProperty: true, opacityProperty: true }) ||
      e.matches("a.skip, .unseen") ||
      e.closest("[aria-hidden=true]") !== null ||
      inSentence(e) ||
      clipped(e);
    const touched = (e: Element) =>
      (e.matches("input[type=checkbox], input[type=radio]") && e.closest("label")) || e;
    const found: string[] = [];
    for (const e of document.querySelectorAll(wanted)) {
      const { width, height } = touched(e).getBoundingClientRect();
      if (width === 0 || (width + 0.5 >= most && height + 0.5 >= most) || isExempt(e)) continue;
      const name = e.getAttribute("aria-label") ?? (e.textContent ?? "").trim().slice(0, 40);
      const tag = `${e.tagName.toLowerCase()}.${e.className}`;
      found.push(`${tag} "${name}": ${Math.round(width)} × ${Math.round(height)}`);
    }
    return [...new Set(found)];
  }, least);

/** What reaches beyond the right edge of the page, and in no box that scrolls by itself. */
export const tooWide = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const width = document.documentElement.clientWidth;
    const scrolls = (e: Element | null): boolean =>
      e !== null &&
      e !== document.body &&
      (["auto", "scroll", "hidden", "clip"].includes(getComputedStyle(e).overflowX) ||
        scrolls(e.parentElement));
    const found: string[] = [];
    for (const e of document.querySelectorAll("body *")) {
      const { right, width: own } = e.getBoundingClientRect();
      if (own === 0 || right <= width + 1 || scrolls(e.parentElement)) continue;
      if (!e.checkVisibility()) continue;
      found.push(`${e.tagName.toLowerCase()}.${e.className}: ${Math.round(right)}`);
    }
    return found.slice(0, 5);
  });
