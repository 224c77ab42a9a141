// What a page costs the processor while nobody does anything.

import { readFileSync } from "node:fs";
import type { Page } from "playwright-core";

/** Shares of one core. */
export interface Cost {
  /** Of the main thread of the page. */
  main: number;
  /** Of all processes of the browser. */
  all: number;
}

/** Watches a page for so many milliseconds. */
export async function watch(page: Page, ms: number): Promise<Cost> {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable");
  const busy = async () => {
    const { metrics } = await session.send("Performance.getMetrics");
    return metrics.find((m) => m.name === "TaskDuration")?.value ?? 0;
  };
  const [before, cpuBefore, begin] = [await busy(), cpuSeconds(), performance.now()];
  await page.evaluate((wait) => new Promise((done) => setTimeout(done, wait)), ms);
  const wall = (performance.now() - begin) / 1000;
  return { main: ((await busy()) - before) / wall, all: (cpuSeconds() - cpuBefore) / wall };
}

/** Processor seconds of this process's descendants that are the browser. */
function cpuSeconds(): number {
  const ticks = 100;
  return descendants(process.pid)
    .map((pid) => statOf(pid))
    .filter((s) => s.name.startsWith("chrom"))
    .reduce((sum, s) => sum + s.ticks / ticks, 0);
}

function descendants(pid: number): number[] {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8")
      .trim()
      .split(/\s+/)
      .filter(Boolean)
      .map(Number);
    return [...children, ...children.flatMap(descendants)];
  } catch {
    return []; // it has ended meanwhile
  }
}

function statOf(pid: number): { name: string; ticks: number } {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [, name = "", rest = ""] = /\((.*)\) (.*)/.exec(text) ?? [];
    const fields = rest.split(" ");
    return { name, ticks: Number(fields[11]) + Number(fields[12]) };
  } catch {
    return { name: "", ticks: 0 };
  }
}
