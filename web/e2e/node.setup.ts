// Starts the demonstration of the program that VOLTBUS_BIN names, for the tests against a running
// node, and ends it with them.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const link = /(http:\/\/\S+)\/#token=(\S+)/;

export default async function startDemo() {
  const { VOLTBUS_BIN: program, VOLTBUS_URL: given } = process.env;
  if (given || !program) return;
  const dir = await mkdtemp(join(tmpdir(), "voltbus-e2e-"));
  const demo = spawn(
    program,
    ["demo", "--dir", dir, "--http", "127.0.0.1:0", "--bus", "127.0.0.1:0"],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  const ended = new Promise<void>((resolve) => demo.once("exit", () => resolve()));
  for await (const line of createInterface(demo.stdout)) {
    const [, url, token] = link.exec(line) ?? [];
    if (!url) continue;
    process.env.VOLTBUS_URL = url;
    process.env.VOLTBUS_TOKEN = token;
    break;
  }
  if (!process.env.VOLTBUS_URL) throw new Error(`${program} demo printed no address`);
  return async () => {
    demo.kill("SIGINT");
    await ended;
    await rm(dir, { recursive: true });
  };
}
