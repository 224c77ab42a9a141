// What the stand-in answers about agents: a few with different fates, whose processes do what they
// are told, and whose logs go on.

import type { ServerResponse } from "node:http";
import type {
  Agent,
  CallResult,
  Grants,
  Method,
  Peer,
  Process,
  ProcessCrash,
  ProcessLine,
} from "../src/generated/api";
import { type Call, type Handlers, Refusal } from "./stand";

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

/** A process that runs. */
export const running = (name: string, more: Partial<Process> = {}): Process => ({
  name,
  state: "running",
  since: ago(7400),
  version: 3,
  release: "1.2.0",
  title: "Watches boilers",
  installed: ago(90_000),
  previous: [1, 2],
  priority: 50,
  autostart: "",
  pid: 4711,
  failures: 0,
  memory: 38_400_000,
  cpu: 0.012,
  processes: 1,
  memory_limit: 256_000_000,
  isolation: ["user", "landlock"],
  crashes: [],
  wants: {},
  ...more,
});

const identity = (name: string, grants: Grants, more: Partial<Agent> = {}): Agent => ({
  name,
  public: `U${name.toUpperCase().replace(/[^A-Z]/g, "")}`.padEnd(56, "X"),
  grants,
  created: ago(90_000),
  ...more,
});

const says = (name: string, more: Partial<Peer> = {}): Peer => ({
  name,
  online: true,
  since: ago(7400),
  status: "good",
  version: "1.2.0",
  sdk: "python 0.1",
  host: "plant-1",
  ...more,
});

/** A connection over which 12.5 messages a second come and 3 go. */
const busy = ({ public: key }: Agent, id: number) => ({
  id,
  key: key.slice(0, 12),
  address: "127.0.0.1:4222",
  in: { messages: Math.floor((Date.now() / 1000) * 3), bytes: 0 },
  out: { messages: Math.floor((Date.now() / 1000) * 12.5), bytes: 0 },
});

const line = (seconds: number, level: string, message: string, more = {}): ProcessLine => ({
  time: ago(seconds),
  level,
  stream: "stderr",
  logger: "boiler_watch",
  message,
  ...more,
});

/** The agents of a stand-in. */
export class Agents {
  processes: Process[] = [];
  identities: Agent[] = [];
  peers: Peer[] = [];
  methods: Method[] = [];
  log: ProcessLine[] = [];
  crash: ProcessCrash | undefined;
  /** What a call is answered with. */
  reply: CallResult | Refusal = { result: null };
  /** What was asked of the processes, such as "boiler-watch stop". */
  readonly deeds: string[] = [];
  /** The bodies of calls of methods. */
  readonly calls: unknown[] = [];
  /** How the log was asked for. */
  readonly asked: URLSearchParams[] = [];
  /** What the next installation wants. */
  wants: Grants = {};
  private readonly readers = new Set<ServerResponse>();

  readonly handlers: Handlers = {
    "GET processes": () => ({ processes: this.processes, isolation: ["user", "landlock"] }),
    "GET agents": () => ({ agents: this.identities }),
    "GET peers": () => ({ peers: this.peers }),
    "GET bus": () => {
      const online = new Set(this.peers.filter((p) => p.online).map((p) => p.name));
      const connections = this.identities.filter((a) => online.has(a.name)).map(busy);
      return { connections, total: connections.length, slow_consumers: 0 };
    },
    "GET documents": () => ({ documents: [] }),
    "GET audit": () => ({ entries: [], next: 0 }),
    "GET agents/*": (call) => this.get(call),
    "POST agents/*": (call) => this.post(call),
    "PUT agents/*": (call) => this.install(call),
    "PATCH agents/*": (call) => this.regrant(call),
    "DELETE agents/*": ({ resource }) => {
      const [, name = ""] = resource.split("/").map(decodeURIComponent);
      this.processes = this.processes.filter((p) => p.name !== name);
      this.identities = this.identities.filter((a) => a.name !== name);
      return undefined;
    },
  };

  /** Prints a line. */
  print(printed: ProcessLine): void {
    this.log.push(printed);
    for (const r of this.readers) r.write(`event: line\ndata: ${JSON.stringify(printed)}\n\n`);
  }

  private get({ resource, query, response }: Call) {
    if (resource.endsWith("/methods")) return { methods: this.methods };
    if (resource.includes("/crashes/")) return this.crash ?? new Refusal(404, "There is none");
    if (!resource.endsWith("/logs/follow")) return new Refusal(404, "There is no such resource");
    this.asked.push(query);
    response.writeHead(200, { "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(": connected\n\n");
    const level = query.get("level");
    const search = (query.get("search") ?? "").toLowerCase();
    for (const l of this.log) {
      if (level && l.level !== level) continue;
      if (!l.message.toLowerCase().includes(search)) continue;
      response.write(`event: line\ndata: ${JSON.stringify(l)}\n\n`);
    }
    this.readers.add(response);
    response.on("close", () => this.readers.delete(response));
    return "streamed";
  }

  private post({ resource, body }: Call) {
    const [, name = "", action = ""] = resource.split("/").map(decodeURIComponent);
    if (action === "call") {
      this.calls.push(body);
      return this.reply;
    }
    this.deeds.push(`${name} ${action}`);
    const process = this.processes.find((p) => p.name === name);
    const known = this.identities.find((a) => a.name === name);
    if (action === "revoke" && known) return Object.assign(known, { revoked: ago(0) });
    if (!process) return new Refusal(404, "There is no such agent", "not-found");
    if (action === "approve" && known) known.grants = process.wants as Grants;
    if (action === "start" || action === "restart") process.state = "running";
    if (action === "stop") Object.assign(process, { state: "stopped", memory: 0 });
    if (action === "enable") process.autostart = "enabled";
    if (action === "rollback") process.version = process.previous.pop() ?? process.version;
    return process;
  }

  private install({ resource, query }: Call) {
    const [, name = ""] = resource.split("/").map(decodeURIComponent);
    this.deeds.push(`${name} install grant=${query.get("grant")}`);
    const state = "stopped" as const;
    const installed = running(name, { state, memory: 0, version: 1, previous: [] });
    installed.wants = { ...this.wants };
    this.processes.push(installed);
    this.identities.push(identity(name, {}));
    return installed;
  }

  private regrant({ resource, body }: Call) {
    const [, name = ""] = resource.split("/").map(decodeURIComponent);
    const { grant = {}, withdraw = {} } = body as { grant?: Grants; withdraw?: Grants };
    const known = this.identities.find((a) => a.name === name);
    if (!known) return new Refusal(404, "There is no such agent", "not-found");
    if (grant.subscribe?.some((p) => /[^/]\*|\*[^/*]/.test(p))) {
      return new Refusal(400, 'subscribe: "*" must be a whole segment');
    }
    const gone = new Set(withdraw.subscribe ?? []);
    const kept = (known.grants.subscribe ?? []).filter((p) => !gone.has(p));
    known.grants = { ...known.grants, subscribe: [...kept, ...(grant.subscribe ?? [])] };
    return known.grants;
  }
}

/** Agents of a site: one that does well, one that ends again and again, one that is stopped. */
export function fleet(): Agents {
  const a = new Agents();
  const crashes = ["20260301T080000.json", "20260301T080102.json"];
  a.processes = [
    running("boiler-watch", { wants: { subscribe: ["campus/plant"], publish: ["analysis/**"] } }),
    running("economizer", {
      state: "backing-off",
      text: "it ended 4 times in a row; it starts again in 8 s",
      failures: 4,
      memory: 0,
      release: "0.3.1",
      title: "Finds faults of air handlers",
      crashes,
      last_end: {
        at: ago(4),
        reason: "exited",
        text: "ended with exit code 1",
        code: 1,
        uptime: 3,
      },
    }),
    running("weather", { state: "stopped", memory: 0, release: "2.0", title: "Weather of a file" }),
  ];
  a.identities = [
    identity("boiler-watch", {
      subscribe: ["campus/plant"],
      record: ["analysis/boilers"],
      call: [{ agent: "weather", method: "forecast", where: { hours: { max: 48 } } }],
    }),
    identity("economizer", { subscribe: ["campus/b1"] }),
    identity("weather", {}),
    identity(
      "gateway-7",
      { publish: ["remote/**"] },
      {
        online: {
          since: ago(60),
          address: "10.0.0.7:4222",
          in: { messages: 120, bytes: 48_000 },
          out: { messages: 7, bytes: 900 },
        },
      },
    ),
  ];
  a.peers = [
    says("boiler-watch", { context: "3 of 3 boilers within limits" }),
    says("economizer", { online: false, status: "offline" }),
    says("gateway-7", { status: "bad", context: { queue: 1200, why: "the uplink is slow" } }),
  ];
  a.methods = [
    {
      name: "limit",
      doc: "Set the limit of a boiler.\n\nReturns the limit before.",
      params: [
        { name: "device", type: "str", kind: "either" },
        { name: "limit", type: "float", default: 80, kind: "either" },
      ],
      result: "float",
      needs: ["tune"],
    },
    { name: "ping", doc: "Answer, to show that this agent is alive.", params: [], result: "str" },
  ];
  a.log = [
    line(30, "info", "started", { extra: { version: "1.2.0" } }),
    line(20, "info", "listening to campus/plant/*/supply_temp"),
    line(12, "warning", "boiler2 is 1.5 K below its limit", {
      extra: { device: "boiler2", margin: 1.5 },
    }),
    line(6, "error", "cannot read holidays\nFileNotFoundError: holidays.csv"),
    line(2, "info", "checked 3 boilers"),
  ];
  a.crash = {
    at: ago(4),
    reason: "exited",
    text: "It ended with exit code 1.",
    code: 1,
    uptime: 3.2,
    agent: "economizer",
    version: 3,
    memory_limit: 0,
    max_memory: 31_000_000,
    lines: [line(5, "error", "Traceback (most recent call last):\nKeyError: 'damper'")],
  };
  return a;
}
