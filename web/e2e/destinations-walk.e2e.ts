// Against a fresh node of the program that VOLTBUS_BIN names: a Kafka and an Elasticsearch are added, each loses its plug, and the ledger says that both
// have every reading. Kafka is a broker of franz-go, which the test program of its destination becomes, and is killed; Elasticsearch is a server written after the published description of its API.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { launch, openPage, seriousViolations } from "./browser";

const program = process.env.VOLTBUS_BIN ?? "";
const root = join(import.meta.dirname, "../..");
const python = process.env.VOLTBUS_PEERS_PYTHON ?? join(root, ".venv/bin/python");

/** The first part of a line of a process that a pattern finds. */
async function said(from: NodeJS.ReadableStream | null, pattern: RegExp): Promise<string> {
  if (!from) throw new Error("the process says nothing");
  for await (const line of createInterface(from)) {
    const [, found] = pattern.exec(line) ?? [];
    if (found) {
      from.resume();
      return found;
    }
  }
  throw new Error(`the process ended without saying ${pattern}`);
}

const ended = (process: ChildProcess) =>
  new Promise<void>((resolve) => process.once("exit", () => resolve()));

/** A cable to a server, with a plug. */
class Cable {
  private readonly sockets = new Set<Socket>();
  private server: Server | undefined;
  port = 0;

  constructor(private readonly to: number) {}

  async plug(): Promise<void> {
    const server = createServer((near) => {
      const far = connect(this.to, "127.0.0.1");
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.sockets.add(one);
        one.on("error", () => other.destroy());
        one.on("close", () => {
          this.sockets.delete(one);
          other.destroy();
        });
        one.pipe(other);
      }
    });
    await new Promise<void>((resolve) => server.listen(this.port, "127.0.0.1", resolve));
    this.port = (server.address() as { port: number }).port;
    this.server = server;
  }

  async pull(): Promise<void> {
    const server = this.server;
    const closed = new Promise<void>((resolve) => server?.close(() => resolve()));
    for (const s of this.sockets) s.destroy();
    await closed;
  }
}

describe.skipIf(program === "")("an integrator", () => {
  let browser: Browser;
  let dir = "";
  let node: ChildProcess;
  let search: ChildProcess;
  let kafka: ChildProcess;
  let cable: Cable;
  let brokers = "";
  let url = "";
  let token = "";

  const startKafka = async () => {
    kafka = spawn(join(dir, "broker"), [], {
      env: {
        ...process.env,
        VOLTBUS_TEST_KAFKA: brokers,
        VOLTBUS_TEST_KAFKA_DIR: join(dir, "kafka"),
        VOLTBUS_TEST_KAFKA_TOPICS: "readings",
      },
      stdio: ["ignore", "pipe", "ignore"],
    });
    await said(kafka.stdout, /^(ready)$/);
  };

  beforeAll(async () => {
    browser = await launch();
    dir = await mkdtemp(join(tmpdir(), "voltbus-walk-"));
    execFileSync("go", ["test", "-c", "-o", join(dir, "broker"), "./sink/kafka"], {
      cwd: root,
    });
    const free = createServer();
    await new Promise<void>((resolve) => free.listen(0, "127.0.0.1", resolve));
    brokers = `127.0.0.1:${(free.address() as { port: number }).port}`;
    await new Promise((resolve) => free.close(resolve));
    await startKafka();
    search = spawn(
      python,
      [join(root, "testing/peers/search_peer.py"), new Date().toISOString(), ""],
      {
        stdio: ["pipe", "pipe", "ignore"],
      },
    );
    cable = new Cable(Number(await said(search.stdout, /^ready (\d+)$/)));
    await cable.plug();
    await writeFile(
      join(dir, "voltbus.yaml"),
      "node: {name: plant}\nlisten: {http: 127.0.0.1:0, bus: off}\n",
    );
    node = spawn(program, ["run"], { cwd: dir, stdio: ["ignore", "ignore", "pipe"] });
    url = await said(node.stderr, /node runs.* page=(\S+)/);
    token = (await readFile(join(dir, "data/admin.token"), "utf8")).trim();
  }, 300_000);

  afterAll(async () => {
    await browser.close();
    await cable.pull();
    for (const one of [node, search, kafka]) {
      const gone = ended(one);
      one.kill(one === node ? "SIGINT" : "SIGKILL");
      await gone;
    }
    await rm(dir, { recursive: true });
  });

  let recorded = 0;
  async function record(n: number): Promise<void> {
    const samples = Array.from({ length: n }, () => ({
      point: "plant/temp",
      time: new Date(Date.now() - 3_600_000 + recorded++).toISOString(),
      value: recorded,
    }));
    const answer = await fetch(`${url}/api/v1/samples`, {
      method: "POST",
      headers: { Authorization: `Bearer ${token}`, "Content-Type": "application/json" },
      body: JSON.stringify(samples),
    });
    expect(answer.status, await answer.text()).toBeLessThan(300);
  }

  test("adds a Kafka and an Elasticsearch, pulls each plug, and the ledger says that both have every reading", async () => {
    const { page } = await openPage(browser);
    await page.goto(`${url}/#token=${encodeURIComponent(token)}`);
    await page.getByRole("navigation").first().waitFor();
    await page.goto(`${url}/destinations`);
    const add = async (name: string, kind: string, address: string, into: RegExp) => {
      await page.getByRole("button", { name: "Add a destination" }).click();
      const form = page.getByRole("form", { name: "New destination" });
      await form.getByLabel("Kind").selectOption(kind);
      await form.getByLabel("Name", { exact: true }).fill(name);
      await form.getByLabel(/^Address/).fill(address);
      await form.getByLabel(into).fill("readings");
      await form.getByLabel("Points", { exact: true }).fill("plant/**");
      return form;
    };
    const stream = await add("stream", "Kafka", `kafka://${brokers}`, /^Topic/);
    await stream.getByRole("button", { name: "Try and add" }).click();
    await page.getByRole("region", { name: "stream" }).waitFor();
    const index = await add(
      "search",
      "Elasticsearch, OpenSearch",
      `http://127.0.0.1:${cable.port}`,
      /^Index/,
    );
    await index.getByLabel(/^User/).fill("plant");
    await index.getByLabel(/^Password or token/).fill("wrong");
    await index.getByRole("button", { name: "Try and add" }).click();
    await index.getByText(/does not accept the user or the password/).waitFor();
    await index.getByLabel(/^Password or token/).fill("correct horse");
    await index.getByRole("button", { name: "Try and add" }).click();
    const card = (name: string) => page.getByRole("region", { name });
    await card("search").waitFor();

    const has = (name: string, n: number) =>
      card(name).getByText(`It has every reading: ${n} of ${n}.`).waitFor({ timeout: 60_000 });
    await record(40);
    await has("search", 40);
    await has("stream", 40);

    await cable.pull();
    await record(40);
    await card("search")
      .getByText(/^Nothing is sent/)
      .waitFor();
    await has("stream", 80);
    await cable.plug();
    await has("search", 80);

    const gone = ended(kafka);
    kafka.kill("SIGKILL");
    await gone;
    await record(40);
    await card("stream")
      .getByText(/^Nothing is sent/)
      .waitFor({ timeout: 60_000 });
    await has("search", 120);
    await startKafka();
    await has("stream", 120);

    await page.goto(`${url}/ledger`);
    const table = page.getByRole("region", { name: "Account of each destination" });
    for (const name of ["search", "stream"]) {
      const row = table.getByRole("row", { name: new RegExp(name) });
      await row.getByText("✓ balanced").waitFor();
      expect(await row.getAttribute("title")).toBe("It has every reading: 120 of 120.");
    }
    expect(await seriousViolations(page)).toEqual([]);
  }, 240_000);
});
