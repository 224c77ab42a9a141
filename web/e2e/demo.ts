// Demonstrations of the program that VOLTBUS_BIN names, for the tests against a running node. Each file of tests
// has one of its own, at free ports and in a folder of its own, so that files run beside each other.

import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterAll } from "vitest";

const link = /(http:\/\/\S+)\/#token=(\S+)/;

/** Where a node answers, and what logs in. Both are empty if there is none to test. */
export interface Demo {
  url: string;
  token: string;
  /** The folder of the demonstration; "" if it was started by others. */
  dir: string;
}

/**
 * Starts a demonstration that ends with the tests of the file, and waits until it runs. If VOLTBUS_URL is the
 * address of a node that runs already, and VOLTBUS_TOKEN logs in there, it gives that one.
 */
export async function startDemo(): Promise<Demo> {
  const { VOLTBUS_BIN: program, VOLTBUS_URL: url, VOLTBUS_TOKEN: token = "" } = process.env;
  if (url) return { url, token, dir: "" };
  if (!program) return { url: "", token: "", dir: "" };
  const dir = await mkdtemp(join(tmpdir(), "voltbus-e2e-"));
  const listen = ["--http", "127.0.0.1:0", "--bus", "127.0.0.1:0"];
  const demo = spawn(program, ["demo", "--dir", dir, ...listen], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = new Promise<void>((resolve) => demo.once("exit", () => resolve()));
  afterAll(async () => {
    demo.kill("SIGINT");
    await ended;
    await rm(dir, { recursive: true });
  });
  for await (const line of createInterface(demo.stdout)) {
    const [, address, secret] = link.exec(line) ?? [];
    if (!address || !secret) continue;
    demo.stdout.resume();
    return { url: address, token: secret, dir };
  }
  throw new Error(`${program} demo printed no address`);
}
