// A stand-in for a node: it answers the shapes of the API with generated data over real HTTP and
// server-sent events, so that the page can be tested against cases that a healthy node has not.

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import type { Ledger, PlotSample, Scan, Value } from "../src/api";
import { isUnder } from "../src/path";
import { catalogueOf, deviceOf, type Site, type Source, type Unit } from "./sites";

const root = join(import.meta.dirname, "..");

/** The policy that the program sends, read from where it stands, so that both cannot differ. */
const policy = [
  ...(/policy = (.*?)\n\n/s.exec(readFileSync(join(root, "web.go"), "utf8"))?.[1] ?? "").matchAll(
    /"([^"]+)"/g,
  ),
]
  .map((piece) => piece[1])
  .join("");
if (!policy.includes("script-src 'self'")) throw new Error("web.go no longer says its policy");

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The token that logs in. */
export const token = "let-me-in";

/** Stand serves one site. It can go away and come back at the same address. */
export class Stand {
  /** What the ledger says, on top of what is counted. */
  ledger: Partial<Ledger> = {};

  private server: Server | undefined;
  private port = 0;
  private readonly sessions = new Set<string>();
  /** Who reads the live stream, with the branch that was asked for. */
  private readonly readers = new Map<ServerResponse, string>();
  private readonly timers = new Set<NodeJS.Timeout>();
  private readonly began = Date.now();

  constructor(private readonly site: Site) {}

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Listens: at any port the first time, and later at the same. */
  async start(): Promise<void> {
    const server = createServer((request, response) => void this.serve(request, response));
    this.server = server;
    await new Promise<void>((done) => server.listen(this.port, "127.0.0.1", done));
    this.port = (server.address() as AddressInfo).port;
    const timer = setInterval(() => this.scan(), 1000);
    this.timers.add(timer);
  }

  /** Breaks all connections and stops listening. */
  async stop(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    this.timers.clear();
    this.readers.clear();
    const server = this.server;
    if (!server) return;
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
    this.server = undefined;
  }

  /** Forgets who is logged in, as a node does that starts with new keys. */
  forget(): void {
    this.sessions.clear();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", this.url);
    if (!url.pathname.startsWith("/api/v1/")) return serveFile(url.pathname, response);
    const resource = url.pathname.slice("/api/v1/".length);
    if (resource === "session" && request.method === "POST") return this.login(request, response);
    const known = this.sessions.has(request.headers.cookie ?? "");
    if (!known) return problem(response, 401, "Nobody is logged in");
    if (resource === "session" && request.method === "DELETE") {
      this.sessions.delete(request.headers.cookie ?? "");
      response.writeHead(204).end();
    } else if (resource === "stream") this.stream(url.searchParams.get("pattern") ?? "", response);
    else this.answer(resource, url.searchParams, response);
  }

  private async login(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const piece of request) body += piece;
    const given = (JSON.parse(body) as { token: string }).token;
    if (request.headers["x-voltbus"] !== "1") return problem(response, 403, "X-Voltbus is missing");
    if (given !== token) return problem(response, 401, "The token is not valid");
    const cookie = `voltbus=${this.sessions.size + 1}`;
    this.sessions.add(cookie);
    response.setHeader("Set-Cookie", `${cookie}; HttpOnly; SameSite=Strict; Path=/`);
    response.writeHead(204).end();
  }

  private answer(resource: string, query: URLSearchParams, response: ServerResponse): void {
    const now = Date.now();
    const answers: Record<string, () => unknown> = {
      session: () => ({ user: "admin", role: "administrator" }),
      points: () => ({ points: this.site.flatMap(catalogueOf), next: "" }),
      latest: () => ({ samples: this.site.flatMap((u) => latest(u, now)) }),
      devices: () => ({ devices: this.site.map((u) => deviceOf(u, this.seconds(now), now)) }),
      ledger: () => this.books(now),
      plot: () => this.plot(query),
    };
    const made = Object.hasOwn(answers, resource) ? answers[resource] : undefined;
    if (!made) {
      problem(response, 404, "There is no such resource");
      return;
    }
    response.writeHead(200, { "Content-Type": "application/json" });
    response.end(JSON.stringify(made()));
  }

  /** How long the site "ran": a week longer than this server. */
  private seconds(now: number): number {
    return Math.floor((now - this.began) / 1000) + 604_800;
  }

  private books(now: number): Ledger {
    const working = this.site.filter((u) => !u.error).flatMap((u) => u.points).length;
    const n = working * this.seconds(now);
    const origin = {
      origin: "demo",
      produced: n,
      acknowledged: n,
      stored: n,
      refused: 0,
      missing: 0,
      repeated: 0,
      backlog_blocks: 0,
      backlog_samples: 0,
      balanced: true,
    };
    return {
      state: "ok",
      reason: "",
      origins: [origin],
      gaps: [],
      log: { bytes: 31_400_000, max_bytes: 1_000_000_000, dropped_samples: 0 },
      damaged: [],
      ...this.ledger,
    };
  }

  private plot(query: URLSearchParams): unknown {
    const from = Date.parse(query.get("from") ?? "");
    const to = Math.min(Date.now(), Date.parse(query.get("to") ?? ""));
    const step = Math.max(1000, Math.ceil((to - from) / Number(query.get("pixels")) / 1000) * 1000);
    const series = query.getAll("point").flatMap((path) => {
      const found = this.find(path);
      if (!found) return [];
      const samples = curve(found, from, to, step);
      const present = Math.round((samples.length * step) / 1000);
      const expected = Math.round((to - from) / 1000);
      const { unit, kind } = found;
      return [
        {
          point: path,
          unit,
          kind,
          samples,
          expected,
          present: Math.min(expected, present),
          bad: 0,
        },
      ];
    });
    return { series, completeness: 1, from, to, step };
  }

  private find(path: string): Source | undefined {
    for (const u of this.site) {
      const source = u.points.find((p) => `${u.path}/${p.name}` === path);
      if (source) return source;
    }
    return undefined;
  }

  private stream(branch: string, response: ServerResponse): void {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(": welcome\n\n");
    this.readers.set(response, branch);
    response.on("close", () => this.readers.delete(response));
  }

  /** Sends one pass over all devices to the readers of their branches. */
  private scan(): void {
    for (const [reader, branch] of this.readers) {
      for (const u of this.site) {
        if (u.error || !isUnder(u.path, branch)) continue;
        reader.write(`event: scan\ndata: ${JSON.stringify(scanOf(u, Date.now()))}\n\n`);
      }
    }
  }
}

const latest = (u: Unit, now: number) =>
  u.points.map((p) => ({
    point: `${u.path}/${p.name}`,
    time: new Date(now).toISOString(),
    value: u.error ? null : p.at(now),
    kind: p.kind,
    quality: u.error ? "bad(unreachable)" : (p.quality ?? "good"),
  }));

function scanOf(u: Unit, now: number): Scan {
  const points: Record<string, Value> = Object.create(null);
  const quality: Record<string, string> = Object.create(null);
  for (const p of u.points) {
    points[p.name] = p.at(now);
    if (p.quality) quality[p.name] = p.quality;
  }
  return { device: u.path, time: new Date(now).toISOString(), points, quality };
}

/** A curve with a pause of a twelfth of the range, in which nothing was recorded. */
function curve(source: Source, from: number, to: number, step: number): PlotSample[] {
  const samples: PlotSample[] = [];
  const pause = from + (to - from) * 0.3;
  for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
    if (t < pause || t > pause + (to - from) / 12) samples.push([t, source.at(t)]);
  }
  return samples;
}

function problem(response: ServerResponse, status: number, title: string): void {
  response.writeHead(status, { "Content-Type": "application/problem+json" });
  response.end(JSON.stringify({ title, detail: title, kind: "refused", subject: "" }));
}

function serveFile(path: string, response: ServerResponse): void {
  const name = extname(path) in types ? path : "/index.html";
  response.setHeader("Content-Security-Policy", policy);
  try {
    const content = readFileSync(join(root, "dist", name));
    response.writeHead(200, { "Content-Type": types[extname(name)] ?? "text/plain" });
    response.end(content);
  } catch {
    response.writeHead(404).end();
  }
}
