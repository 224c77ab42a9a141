// What the stand-in node tells about its lab.

import type { Experiment, Measured, Order, Progress, Run } from "../src/lab/calls";
import { type Handlers, Refusal } from "./stand";

const published = (devices: number, pi: number, vm: number) => ({
  case: `${devices.toLocaleString("en-US")} devices`,
  figures: [
    { label: "Raspberry Pi 4", value: pi },
    { label: "virtual machine", value: vm },
  ],
});

const table = [published(2000, 7.9, 3.1), published(10_000, 39.4, 17.2)];

/** An experiment with a published table; words may be an attack. */
export const experiment = (words = ""): Experiment => ({
  name: "scrape",
  title: `One scan of many devices ${words}`.trim(),
  question: `How long does one scan of all devices take until the last message is there? ${words}`,
  source:
    "Message bus usage recommendations, table 2; a Raspberry Pi 4 and a small virtual machine",
  method: ["One listener on an encrypted connection of its own.", "The mean of five scans."],
  limits: ["Another machine than the published one: the ratio is context."],
  metric: "interval of a scrape",
  unit: "s",
  higher_is_better: false,
  settings: [
    { name: "devices", default: "2000,10000", quick: "50,100", doc: "devices of each case" },
    { name: "points", default: "18", quick: "", doc: "points of a device" },
  ],
  published: table,
  peers: ["RabbitMQ", "ZeroMQ"],
});

const measured = (row: (typeof table)[number], median: number): Measured => ({
  case: { name: row.case },
  subject: "voltbus",
  median,
  least: median * 0.96,
  most: median * 1.07,
  published: row.figures,
  peer: { label: "ZeroMQ, another time", value: median * 38 },
  ratios: row.figures.map((f) => ({ against: f.label, times: f.value / median, same_run: false })),
});

const run = (id: string, hoursAgo: number, more: Partial<Run> = {}): Run => {
  const started = Date.now() - hoursAgo * 3_600_000;
  return {
    id,
    experiment: "scrape",
    title: experiment().title,
    state: "finished",
    started: new Date(started).toISOString(),
    finished: new Date(started + 95_000).toISOString(),
    quick: false,
    repeats: 5,
    verdict: ["Every case is below the published figure: 480 to 560 times as fast."],
    error: "",
    ...more,
  };
};

const result = (factor: number) => ({
  metric: { name: "interval of a scrape", unit: "s", higher_is_better: false },
  cases: table.map((row, i) => measured(row, factor * (0.0165 + 0.055 * i))),
  skipped: [{ peer: "RabbitMQ", reason: "it is not installed: apt install rabbitmq-server" }],
});

/** A lab with one experiment and two finished runs; a new run goes on until it is stopped. */
export function lab(words = ""): Handlers {
  const runs = [run("r2", 2), run("r1", 26)];
  const find = (resource: string) => runs.find((r) => resource.startsWith(`lab/runs/${r.id}`));
  return {
    "GET lab/experiments": () => ({ experiments: [experiment(words)] }),
    "GET lab/runs": () => ({ runs }),
    "POST lab/runs": ({ body }) => {
      const order = body as Order;
      const made = run("live", 0, {
        state: "running",
        finished: null,
        verdict: [],
        quick: order.quick,
      });
      runs.unshift(made);
      return made;
    },
    "GET lab/runs/*": ({ resource, response }) => {
      const found = find(resource);
      if (!found) return new Refusal(404, "There is no such run", "not-found");
      if (resource.endsWith("/stream")) {
        stream(response, words);
        return "streamed";
      }
      if (found.state !== "finished") return found;
      return { ...found, result: result(found.id === "r1" ? 1.2 : 1) };
    },
    "DELETE lab/runs/*": ({ resource }) => {
      const found = find(resource);
      if (found) Object.assign(found, { state: "stopped", finished: new Date().toISOString() });
      return undefined;
    },
  };
}

function stream(response: import("node:http").ServerResponse, words: string): void {
  response.writeHead(200, { "Content-Type": "text/event-stream" });
  let i = 0;
  const tell = () => {
    const wobble = Math.sin(i / 4);
    const progress: Progress = {
      time: new Date(Date.now() - (40 - i) * 1000).toISOString(),
      phase: "measuring",
      subject: "voltbus",
      case: `10,000 devices ${words}`.trim(),
      repeat: 2,
      repeats: 5,
      done: Math.min(1, 0.3 + i / 200),
      rate: 412_000 + 30_000 * wobble,
      p50: 0.0021 + 0.0004 * wobble,
      p99: 0.0072 + 0.002 * wobble,
      cpu: 1.4 + 0.2 * wobble,
      memory: 190e6 + i * 1e6,
    };
    response.write(`event: progress\ndata: ${JSON.stringify(progress)}\n\n`);
    i++;
  };
  for (let n = 0; n < 40; n++) tell();
  const timer = setInterval(tell, 200);
  response.on("close", () => clearInterval(timer));
}
