// Two nodes of the program that VOLTBUS_BIN names, and a cable between them that can be pulled.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

/** A running node. */
export interface Running {
  url: string;
  token: string;
  /** Where its bus listens. */
  bus: number;
  stop(): Promise<void>;
}

/** Starts a node with two simulated rooms below a path of its name, read each second. more is added to its configuration. */
export async function startNode(program: string, name: string, more = ""): Promise<Running> {
  const dir = await mkdtemp(join(tmpdir(), `voltbus-${name}-`));
  const room = (n: number) =>
    `  ${name}/room${n}:\n    driver: sim\n    interval: 1s\n    config: {model: zone}\n`;
  const text =
    `node:\n  name: ${name}\n  data: ${join(dir, "data")}\n` +
    `listen:\n  http: 127.0.0.1:0\n  bus: 127.0.0.1:0\n${more}` +
    `devices:\n${room(1)}${room(2)}`;
  const file = join(dir, "voltbus.yaml");
  await writeFile(file, text);
  const child = spawn(program, ["run", "-c", file], { stdio: ["ignore", "ignore", "pipe"] });
  const { url, bus } = await running(child, name);
  const token = (await readFile(join(dir, "data", "admin.token"), "utf8")).trim();
  const stop = async () => {
    const ended = new Promise((done) => child.once("exit", done));
    if (child.exitCode === null && child.kill("SIGINT")) await ended;
    await rm(dir, { recursive: true });
  };
  return { url, token, bus, stop };
}

/** Waits until a node says that it runs, and where. */
async function running(child: ChildProcess, name: string): Promise<{ url: string; bus: number }> {
  const said: string[] = [];
  if (!child.stderr) throw new Error("the node has no log");
  for await (const line of createInterface(child.stderr)) {
    said.push(line);
    const [, url, bus] = /node runs.* page=(\S+) .*bus=\S+:(\d+)/.exec(line) ?? [];
    if (!url || !bus) continue;
    child.stderr.resume();
    return { url, bus: Number(bus) };
  }
  throw new Error(`${name} did not start:\n${said.join("\n")}`);
}

/** A cable to a port: it can be pulled, and put back. */
export class Cable {
  private server: Server | undefined;
  private readonly ends = new Set<Socket>();
  private isIn = true;
  port = 0;

  constructor(private readonly to: number) {}

  async start(): Promise<void> {
    const server = createServer((near) => this.join(near));
    this.server = server;
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    this.port = (server.address() as AddressInfo).port;
  }

  /** Ends all connections, and lets none through. */
  pull(): void {
    this.isIn = false;
    for (const end of this.ends) end.destroy();
  }

  putBack(): void {
    this.isIn = true;
  }

  async stop(): Promise<void> {
    this.pull();
    await new Promise((done) => this.server?.close(done));
  }

  private join(near: Socket): void {
    if (!this.isIn) {
      near.destroy();
      return;
    }
    const far = connect(this.to, "127.0.0.1");
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      this.ends.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => {
        this.ends.delete(one);
        other.destroy();
      });
      one.pipe(other);
    }
  }
}

/** Asks a node as its administrator. */
export async function ask<T>(
  node: Running,
  method: string,
  resource: string,
  body?: unknown,
): Promise<T> {
  const answer = await fetch(`${node.url}/api/v1/${resource}`, {
    method,
    headers: { Authorization: `Bearer ${node.token}`, "Content-Type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  return (text === "" ? undefined : JSON.parse(text)) as T;
}
