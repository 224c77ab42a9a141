// A stand-in for a node: it answers the shapes of the API with generated data over real HTTP and
// server-sent events, so that the page can be tested against cases that a healthy node has not.

import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Ledger, PlotSample, Point, Scan, Value } from "../src/api";
import type { Concern, Counts } from "../src/generated/api";
import { isUnder } from "../src/path";
import { columnsOf } from "./columns";
import { catalogueOf, deviceOf, type Site, type Source, type Unit } from "./sites";
import { serveFile } from "./stand-files";

/** A node without alarms. */
const noAlarms = {
  alarms: [],
  all: 0,
  open: 0,
  flood: null,
  recent: 0,
  nodes: [],
  version: "",
  same: false,
};

/** A dashboard of the first points of a site. */
function boardOf(site: Site) {
  const points = site.flatMap(catalogueOf).slice(0, 6);
  const tiles = points.map((p, i) => ({
    ...{ kind: "value", x: (i % 4) * 3, y: Math.floor(i / 4) * 2, w: 3, h: 2 },
    points: [p.path],
  }));
  return { name: "", title: "Home", tiles };
}

/** The token that logs in. */
export const token = "let-me-in";

/** A request to the stand-in. */
export interface Call {
  method: string;
  /** What stands behind /api/v1/. */
  resource: string;
  query: URLSearchParams;
  /** The body's JSON, undefined without one, or if it is none. */
  body: unknown;
  /** For answers that are streams. */
  response: ServerResponse;
}

/** An answer that is a problem. */
export class Refusal {
  constructor(
    readonly status: number,
    readonly detail: string,
    readonly kind = "invalid",
    /** What else stands in the problem. */
    readonly more: Record<string, unknown> = {},
  ) {}
}

/**
 * Answers a call with the object that becomes JSON, with nothing (204), with a Refusal, or with
 * "streamed" if it writes the response itself.
 */
export type Handler = (call: Call) => unknown;

/** What a part of the API answers, by "GET resource"; "GET resource/*" takes all below it. */
export type Handlers = Record<string, Handler>;

/** Something that is not well, as health lists it. */
export const aConcern = (
  part: Concern["part"],
  sentence: string,
  more: Partial<Concern> = {},
): Concern => ({
  ...{ part, severity: "warning", subject: "", sentence, since: null, link: "/" },
  ...more,
});

/** Stand serves one site. It can go away and come back at the same address. */
export class Stand {
  /** What the ledger says, on top of what is counted. */
  ledger: Partial<Ledger> = {};

  /** What is not well beside silent devices and a recording that stands still. */
  concerns: Concern[] = [];
  /** How many there are of what is not well, as the node says it. */
  counts: Counts = {
    ...{ alarms: 0, alarms_here: 0, alarms_critical: 0, alarms_high: 0, alarms_medium: 0 },
    ...{ alarms_low: 0, alarms_unlisted: 0, alarms_kept: 0, rules_unjudged: 0, commands_failed: 0 },
    ...{ commands_unconfirmed: 0, commands_differing: 0, commands_pending: 0, devices: 0 },
    ...{ devices_disabled: 0, devices_starting: 0, devices_silent: 0, devices_unreadable: 0 },
    ...{ devices_partial: 0, agents: 0, nodes: 0, nodes_pending: 0, nodes_away: 0 },
    ...{ nodes_refused: 0, nodes_behind: 0, nodes_unwell: 0, destinations: 0, others: 0 },
  };

  /** Parts of the API beyond the site's own data; a test adds what its screen asks for. */
  readonly handlers: Handlers = {};

  /** The role of who logs in, and the name of who did. */
  role = "administrator";
  user = "admin";

  /** The time zone of the site, "" for one that names none. */
  zone = "";

  /** Who logs in by name and password. */
  readonly passwords = new Map<string, string>();

  private server: Server | undefined;
  private port = 0;
  private readonly sessions = new Set<string>();
  /** Who reads the live stream, with the branch that was asked for. */
  private readonly readers = new Map<ServerResponse, readonly string[]>();
  /** Of them those who want to know what happens in control. */
  readonly controlReaders = new Set<ServerResponse>();
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
    const known =
      this.sessions.has(request.headers.cookie ?? "") ||
      request.headers.authorization === `Bearer ${token}`;
    if (resource === "health") return json(response, known ? this.health() : { status: "ok" });
    if (resource === "session" && request.method === "POST") return this.login(request, response);
    const isOpen = resource === "setup" && request.method === "GET";
    if (!known && !isOpen) return problem(response, 401, "Nobody is logged in");
    if (resource === "session" && request.method === "DELETE") {
      this.sessions.delete(request.headers.cookie ?? "");
      response.writeHead(204).end();
    } else if (resource === "stream" && !url.searchParams.has("node"))
      this.stream(url.searchParams, response);
    else this.answer(await callOf(request, resource, url.searchParams, response));
  }

  private async login(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = "";
    for await (const piece of request) body += piece;
    const given = JSON.parse(body) as { token?: string; name?: string; password?: string };
    if (request.headers["x-voltbus"] !== "1") return problem(response, 403, "X-Voltbus is missing");
    const isKnown =
      given.token === token ||
      (given.name !== undefined && this.passwords.get(given.name) === given.password);
    if (!isKnown) return problem(response, 401, "The token is not valid");
    this.user = given.name ?? "admin";
    const cookie = `voltbus=${this.sessions.size + 1}`;
    this.sessions.add(cookie);
    response.setHeader("Set-Cookie", `${cookie}; HttpOnly; SameSite=Strict; Path=/`);
    response.writeHead(204).end();
  }

  private answer(call: Call): void {
    const now = Date.now();
    const { response } = call;
    const handlers: Handlers = {
      "GET annotations": () => ({ annotations: [] }),
      "GET views": () => ({ views: [] }),
      "GET session": () => ({ user: this.user, role: this.role, time_zone: this.zone }),
      "GET points": ({ query }) => {
        const words = (query.get("search") ?? "").toLowerCase().split(/\s+/);
        const has = (p: Point) =>
          words.every((w) => `${p.path} ${p.description} ${p.unit}`.toLowerCase().includes(w));
        return { points: this.site.flatMap(catalogueOf).filter(has), next: "" };
      },
      "GET aggregate": () => ({ series: [] }),
      "GET range": () => ({ series: [] }),
      "GET latest": () => ({ samples: this.site.flatMap((u) => latest(u, now)) }),
      "GET devices": () => ({ devices: this.site.map((u) => deviceOf(u, this.seconds(now), now)) }),
      "GET ledger": () => this.books(now),
      "GET plot": () => this.plot(call.query),
      "GET capacity": () => null,
      "GET dashboards": () => ({ dashboards: [] }),
      "GET dashboards/template": () => ({ dashboard: boardOf(this.site), equipment: "building" }),
      "GET drawings": () => ({ drawings: [] }),
      "GET alerts": () => ({ alerts: [] }),
      "GET alarms": () => noAlarms,
      "GET alarms/rules": () => ({ rules: [] }),
      "GET metering/concentrators": () => ({ system: false, concentrators: [] }),
      "GET mqtt": () => ({ broker: false }),
      "GET cluster": () => ({ replicated: false }),
      "GET sinks": () => ({ sinks: [] }),
      "GET config": () => ({ history: [] }),
      "GET control/points": () => ({ points: [], next: "" }),
      "GET control/events": ({ response }) => {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write(": welcome\n\n");
        return "streamed";
      },
      "GET nodes": () => ({ nodes: [], above: [], refused: [] }),
      "GET events/nodes": ({ response }) => {
        response.writeHead(200, { "Content-Type": "text/event-stream" });
        response.write('event: nodes\ndata: {"whole":true,"nodes":[]}\n\n');
        return "streamed";
      },
      ...this.handlers,
    };
    const handler = handlerFor(handlers, call);
    if (call.resource === "events/nodes" && call.query.has("ledger"))
      tellLedger(response, () => handlers["GET ledger"]?.(call) as Ledger);
    const answer = handler ? handler(call) : new Refusal(404, "There is no such resource");
    if (answer instanceof Refusal)
      problem(response, answer.status, answer.detail, answer.kind, answer.more);
    else if (answer === undefined) response.writeHead(204).end();
    else if (answer !== "streamed") json(response, answer);
  }

  private health() {
    const silent = this.site.flatMap((u) => {
      if (!u.error) return [];
      const link = `/device/${u.path.split("/").map(encodeURIComponent).join("/")}`;
      const sentence = `${u.path} does not answer: ${u.error.text}`;
      return [aConcern("devices", sentence, { link, kind: u.error.kind, severity: "critical" })];
    });
    const reason = this.ledger.reason ?? "";
    const link = "/ledger";
    const paused =
      reason === ""
        ? []
        : [aConcern("recorder", `nothing is recorded: ${reason}`, { link, severity: "critical" })];
    const concerns = [...paused, ...silent, ...this.concerns];
    const level = concerns.some((c) => c.severity === "critical")
      ? "bad"
      : concerns.length > 0
        ? "warn"
        : "good";
    return {
      ...{ status: concerns.length > 0 ? "degraded" : "ok", level, verdict: "" },
      ...{ summary: this.sentence(silent.length), counts: this.counts },
      started: new Date(this.began).toISOString(),
      parts: [],
      concerns,
    };
  }

  /** What the node says in a sentence; package verdict says it of a real one. */
  private sentence(silent: number): string {
    const all = this.site.length;
    const names = this.site.flatMap((u) => (u.error ? [u.path.split("/").at(-1)] : []));
    const verb = silent === 1 ? "does" : "do";
    const devices =
      silent > 0
        ? `${silent} of ${all} devices ${verb} not answer (${names.slice(0, 3).join(", ")})`
        : `All ${all} devices answer`;
    const stored = (this.books(Date.now()).origins ?? []).reduce((sum, o) => sum + o.stored, 0);
    return `${devices}; ${stored.toLocaleString("en")} samples recorded, none lost`;
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
      left_out: 0,
      own: true,
      backlog_blocks: 0,
      backlog_samples: 0,
      balanced: true,
    };
    return {
      state: "ok",
      reason: "",
      origins: [origin],
      gaps: [],
      log: {
        bytes: 31_400_000,
        max_bytes: 1_000_000_000,
        blocks: 8120,
        dropped_blocks: 0,
        dropped_samples: 0,
      },
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
          ...(query.get("format") === "columns" ? { columns: columnsOf(samples) } : { samples }),
          expected,
          present: Math.min(expected, present),
          extra: 0,
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

  private stream(query: URLSearchParams, response: ServerResponse): void {
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(": welcome\n\n");
    this.readers.set(response, query.getAll("pattern"));
    if (query.has("control")) this.controlReaders.add(response);
    response.on("close", () => {
      this.readers.delete(response);
      this.controlReaders.delete(response);
    });
  }

  /** Sends one pass over all devices to the readers of their branches or points. */
  private scan(): void {
    for (const [reader, patterns] of this.readers) {
      for (const u of this.site) {
        const wanted = patterns.some((p) => isUnder(u.path, p) || isUnder(p, u.path));
        if (u.error || !wanted) continue;
        reader.write(`event: scan\ndata: ${JSON.stringify(scanOf(u, Date.now()))}\n\n`);
      }
    }
  }
}

const often = 200;

/** Tells a reader the ledger once the stream is open, and what changes of it. */
function tellLedger(response: ServerResponse, ask: () => Ledger): void {
  const told = new Map<string, string>();
  const tell = () => {
    const { nodes, ...fields } = ask();
    const whole = told.size === 0;
    const isNews = ([name, value]: [string, unknown]) => {
      const text = JSON.stringify(value);
      if (told.get(name) === text) return false;
      told.set(name, text);
      return true;
    };
    const news = {
      ledger: Object.fromEntries(Object.entries(fields).filter(isNews)),
      nodes: (nodes ?? []).filter((n) => isNews([n.path.join("/"), n])),
    };
    if (!whole && Object.keys(news.ledger).length + news.nodes.length === 0) return;
    response.write(`event: ledger\ndata: ${JSON.stringify({ whole, ...news })}\n\n`);
  };
  const timer = setInterval(tell, often);
  response.on("close", () => clearInterval(timer));
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

function json(response: ServerResponse, answer: unknown): void {
  response.writeHead(200, { "Content-Type": "application/json" });
  response.end(JSON.stringify(answer));
}

/** The handler of a call: the one of exactly its resource, or of the nearest folder around it. */
function handlerFor(handlers: Handlers, { method, resource }: Call): Handler | undefined {
  const keys = [resource];
  for (let i = resource.lastIndexOf("/"); i > 0; i = resource.lastIndexOf("/", i - 1)) {
    keys.push(`${resource.slice(0, i)}/*`);
  }
  const key = keys.map((k) => `${method} ${k}`).find((k) => Object.hasOwn(handlers, k));
  return key === undefined ? undefined : handlers[key];
}

async function callOf(
  request: IncomingMessage,
  resource: string,
  query: URLSearchParams,
  response: ServerResponse,
): Promise<Call> {
  let text = "";
  for await (const piece of request) text += piece;
  const isJson = request.headers["content-type"] === "application/json";
  const body: unknown = isJson && text !== "" ? JSON.parse(text) : undefined;
  return { method: request.method ?? "GET", resource, query, body, response };
}

function problem(
  response: ServerResponse,
  status: number,
  detail: string,
  kind = "refused",
  more: Record<string, unknown> = {},
): void {
  response.writeHead(status, { "Content-Type": "application/problem+json" });
  response.end(JSON.stringify({ title: detail, detail, kind, subject: "", ...more }));
}
