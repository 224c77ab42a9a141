// A real node with history to look at: a month of one point, a day of a hundred, and a thousand
// points that are read each second.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const page = /page=(https?:\/\/\S+)/;
const minute = 60_000;
const day = 1440 * minute;

const site = `
node: {name: bench, data: data}
listen: {http: "127.0.0.1:0", bus: "127.0.0.1:0"}
devices:
  - path: live/device{n}
    driver: sim
    interval: 1s
    count: 50
    config: {model: random, points: 20, seed: "{n}"}
`;

/** A running node that is ended with end. */
export interface BenchNode {
  url: string;
  token: string;
  end(): Promise<void>;
}

/** Starts the program in a directory of its own, and waits for its address. */
export async function startNode(program: string): Promise<BenchNode> {
  const dir = await mkdtemp(join(tmpdir(), "voltbus-bench-web-"));
  await writeFile(join(dir, "voltbus.yaml"), site);
  const child = spawn(program, ["run"], { cwd: dir, stdio: ["ignore", "inherit", "pipe"] });
  const ended = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const url = await addressOf(child);
  const token = (await readFile(join(dir, "data/admin.token"), "utf8")).trim();
  const end = async () => {
    child.kill("SIGINT");
    await ended;
    await rm(dir, { recursive: true });
  };
  return { url, token, end };
}

/** The address that the node logs when it runs; what it logs later is dropped. */
function addressOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    if (!child.stderr) throw new Error("the node has no log");
    const lines: string[] = [];
    createInterface(child.stderr).on("line", (line) => {
      if (lines.length < 20) lines.push(line);
      const [, url] = page.exec(line) ?? [];
      if (url) resolve(url);
    });
    child.once("exit", () => reject(new Error(`the node ended: ${lines.join("\n")}`)));
  });
}

/** The names of the points of a day. */
export const dayPoints = Array.from({ length: 100 }, (_, i) => `day/point ${i}`);
export const monthPoint = "month/temperature";

/** Records the history, and waits until it can be read. */
export async function fill(node: BenchNode): Promise<void> {
  const now = Math.floor(Date.now() / minute) * minute;
  const wave = (t: number, i: number) =>
    (20 + i + 3 * Math.sin(t / (97 * minute) + i) + Math.sin(t / (11 * minute))).toFixed(2);
  await record(node, [monthPoint], now - 30 * day, now, wave);
  await record(node, dayPoints, now - day, now, wave);
  for (const [point, samples] of [
    [monthPoint, 30 * 1440],
    [dayPoints[99] ?? "", 1440],
  ] as const) {
    await stored(node, point, samples);
  }
}

const headers = (node: BenchNode) => ({ Authorization: `Bearer ${node.token}` });
const rowsOfARequest = 5000;

async function record(
  node: BenchNode,
  points: readonly string[],
  from: number,
  to: number,
  value: (time: number, index: number) => string,
): Promise<void> {
  const head = `time,${points.join(",")}`;
  let rows: string[] = [head];
  const send = async () => {
    const response = await fetch(`${node.url}/api/v1/samples`, {
      method: "POST",
      headers: { ...headers(node), "Content-Type": "text/csv" },
      body: rows.join("\n"),
    });
    if (response.status !== 200) throw new Error(`${response.status}: ${await response.text()}`);
    rows = [head];
  };
  for (let t = from; t < to; t += minute) {
    rows.push(`${t},${points.map((_, i) => value(t, i)).join(",")}`);
    if (rows.length > rowsOfARequest) await send();
  }
  await send();
}

/** The store takes what is recorded from the log; asks until it has done so. */
async function stored(node: BenchNode, point: string, samples: number): Promise<void> {
  const query = new URLSearchParams({ point, from: "now-32d", pixels: "10" });
  for (;;) {
    const response = await fetch(`${node.url}/api/v1/plot?${query}`, { headers: headers(node) });
    if (response.ok) {
      const { series } = (await response.json()) as { series: { present: number }[] };
      if ((series[0]?.present ?? 0) >= samples) return;
    }
  }
}
