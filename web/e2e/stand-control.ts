// What the stand-in answers about control: a small priority array, reservations and overrides, as
// much of the rules as the screens need to show.

import type { ServerResponse } from "node:http";
import type {
  Approval,
  Commanded,
  CommandSelection,
  ControlHolder,
  ControlPoint,
  ControlRevert,
  ControlSlot,
  ControlTask,
  NewCommand,
  NewOverride,
  NewTask,
  Value,
} from "../src/generated/api";
import { isUnder } from "../src/path";
import type { Site } from "./sites";
import { type Call, type Handlers, Refusal, type Stand } from "./stand";

const minute = 60_000;

/** A time so many minutes from now. */
export const inMinutes = (n: number) => new Date(Date.now() + n * minute).toISOString();

/** A level that somebody holds. */
export const slot = (
  requester: string,
  level: number,
  value: Value,
  more: Partial<ControlSlot> = {},
): ControlSlot => ({
  requester,
  level,
  value,
  command: `${requester} ${level}`,
  from: inMinutes(-12),
  ...more,
});

/** A reservation of one path, in minutes from now. */
export function task(
  name: string,
  requester: string,
  path: string,
  [from, to]: readonly [number, number],
  more: Partial<ControlTask> = {},
): ControlTask {
  const windows = [{ path, from: inMinutes(from), to: inMinutes(to) }];
  const active = from < 0 ? windows : [];
  return {
    task: name,
    requester,
    priority: "low",
    reason: "",
    windows,
    active,
    started: from < 0,
    preempted: false,
    ...more,
  };
}

/** The control of a stand-in. */
export class Control {
  readonly points = new Map<string, ControlPoint>();
  tasks: ControlTask[] = [];
  overrides: ControlHolder[] = [];
  waiting: ControlSlot[] = [];
  /** Every command that was sent, the latest last. */
  readonly sent: NewCommand[] = [];
  /** Every revert that was asked for. */
  readonly reverts: ControlRevert[] = [];
  /** What the device does with what is written. */
  device: Pick<Commanded, "output"> & { reported?: Value } = { output: "held" };

  private stand: Stand | undefined;
  private readonly watchers = new Set<ServerResponse>();

  constructor(site: Site) {
    for (const u of site) {
      for (const p of u.points) this.points.set(`${u.path}/${p.name}`, idle(u, p));
    }
  }

  /** Is told which stand-in it belongs to, which knows who is logged in. */
  readonly began = (stand: Stand): void => {
    this.stand = stand;
  };

  /** Changes a point, as somebody elsewhere does, and tells who watches. */
  change(path: string, part: Partial<ControlPoint>): void {
    const point = this.points.get(path);
    if (!point) throw new Error(`there is no point ${path}`);
    Object.assign(point, part);
    settle(point);
    Object.assign(point, { output: part.output ?? point.output });
    this.tell(path);
  }

  readonly handlers: Handlers = {
    "GET control/points": ({ query }) => this.list(query),
    "GET control/who": ({ query }) => this.who(query.get("path") ?? ""),
    "GET control/waiting": () => ({ commands: this.waiting }),
    "GET control/overrides": () => ({ overrides: this.overrides }),
    "GET control/tasks": () => ({ tasks: this.tasks }),
    "GET control/events": ({ response }) => {
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      response.write(": welcome\n\n");
      this.watchers.add(response);
      response.on("close", () => this.watchers.delete(response));
      return "streamed";
    },
    "POST control/commands": ({ body }) => {
      const { commands } = body as { commands: NewCommand[] };
      return { results: commands.map((c) => this.command(c)) };
    },
    "POST control/release": ({ body }) => this.release(body as CommandSelection),
    "POST control/revert": ({ body }) => {
      const { path, spread } = body as ControlRevert;
      this.reverts.push({ path, ...(spread ? { spread } : {}) });
      const held = [...this.points.values()].filter(
        (p) => isUnder(p.point, path) && p.array.length > 0,
      );
      const later = spread ? held.slice(1) : [];
      const turn = later.length > 0 ? { until: inMinutes((spread ?? 0) / 120) } : {};
      for (const p of held) {
        const array = later.includes(p) ? p.array.map((s) => ({ ...s, ...turn })) : [];
        this.change(p.point, { array });
      }
      return { ...this.done(), points: held.length, ...turn };
    },
    "POST control/waiting": ({ body }) => this.decide(body as Approval),
    "POST control/tasks": ({ body }) => this.reserve(body as NewTask),
    "DELETE control/tasks/*": ({ resource }) => {
      const name = decodeURIComponent(resource.split("/")[2] ?? "");
      this.tasks = this.tasks.filter((t) => t.task !== name);
      return this.done();
    },
    "POST control/overrides": ({ body }) => this.override(body as NewOverride),
    "DELETE control/overrides": ({ query }: Call) => {
      this.overrides = this.overrides.filter((o) => o.path !== query.get("pattern"));
      return this.done();
    },
  };

  private get me(): string {
    return `person:${this.stand?.user}`;
  }

  private done() {
    this.tell("");
    return { status: "accepted" };
  }

  private tell(path: string): void {
    const event = { event: "command-started", requester: "", time: inMinutes(0), path };
    for (const w of [...this.watchers, ...(this.stand?.controlReaders ?? [])])
      w.write(`event: control\ndata: ${JSON.stringify(event)}\n\n`);
  }

  private shown(p: ControlPoint): ControlPoint {
    const window = this.tasks.find((t) => t.active.some((w) => isUnder(p.point, w.path)));
    const [first] = window?.active ?? [];
    const held =
      window && first ? { ...first, requester: window.requester, task: window.task } : null;
    const overrides = this.overrides.filter((o) => selects(o.path ?? "", p.point));
    return { ...p, window: held && { ...held, until: held.to }, overrides };
  }

  private list(query: URLSearchParams) {
    const points = [...this.points.values()]
      .filter((p) => selects(query.get("pattern") ?? "", p.point))
      .filter((p) => query.get("busy") !== "true" || p.array.length > 0 || p.reverting);
    return { points: points.map((p) => this.shown(p)), next: "" };
  }

  private who(path: string) {
    const points = [...this.points.values()].filter((p) => p.point === path);
    return { points: points.map((p) => this.shown(p)), tasks: this.tasks, overrides: [], next: "" };
  }

  private command(c: NewCommand): Commanded {
    this.sent.push(c);
    const { id = "", point: path = "", value, level = 8 } = c;
    const point = this.points.get(path);
    const refused = (message: string, holders: ControlHolder[] = []): Commanded => ({
      ...{ id, point: path, status: "refused", wins: false },
      error: { kind: "conflict", message, holders },
    });
    if (!point) return refused("there is no such point");
    const old = point.array.find((s) => s.level === level);
    if (old && old.requester !== this.me)
      return refused(`${old.requester} holds level ${level}`, [old]);
    const made: ControlSlot = {
      ...{
        requester: this.me,
        command: id,
        path,
        level,
        value: value as Value,
        from: inMinutes(0),
      },
      ...(c.lease ? { until: inMinutes(c.lease / 60) } : {}),
      ...(c.reason ? { reason: c.reason } : {}),
    };
    if (point.policy?.approval) {
      this.waiting.push(made);
      this.tell(path);
      return { id, point: path, status: "pending", wins: false, until: inMinutes(60) };
    }
    point.array = [...point.array.filter((s) => s.level !== level), made];
    settle(point);
    Object.assign(point, this.device);
    this.tell(path);
    const wins = point.array[0] === made;
    return { id, point: path, status: "accepted", wins, reported: point.reported, ...this.device };
  }

  private release(s: CommandSelection) {
    const of = s.requester ?? this.me;
    this.waiting = this.waiting.filter((w) => w.requester !== of || (s.id && w.command !== s.id));
    if (s.all) this.tasks = this.tasks.filter((t) => t.requester !== of);
    for (const p of this.points.values()) {
      if (s.point && s.point !== p.point) continue;
      p.array = p.array.filter((x) => x.requester !== of || (s.id && x.command !== s.id));
      settle(p);
    }
    return this.done();
  }

  private decide({ requester, id, agree }: Approval) {
    const found = this.waiting.find((w) => w.requester === requester && w.command === id);
    if (!found) return new Refusal(404, "it does not wait any more", "not-found");
    if (requester === this.me) return new Refusal(403, "somebody else must agree", "refused");
    this.waiting = this.waiting.filter((w) => w !== found);
    const point = this.points.get(found.path ?? "");
    if (agree && point) {
      point.array = [...point.array, found];
      settle(point);
    }
    return this.done();
  }

  private reserve(wanted: NewTask) {
    const holders = this.tasks.flatMap((t) =>
      t.windows
        .filter((w) =>
          wanted.windows.some(
            (o) =>
              (isUnder(w.path, o.path) || isUnder(o.path, w.path)) &&
              (w.from ?? "") < o.to &&
              (o.from ?? inMinutes(0)) < w.to,
          ),
        )
        .map((w) => ({
          requester: t.requester,
          task: t.task,
          ...w,
          until: w.to,
          reason: t.reason,
        })),
    );
    if (holders.length > 0) {
      const words = `${holders[0]?.requester} has reserved ${holders[0]?.path}; choose another time`;
      return new Refusal(409, words, "conflict", { why: "conflict", holders });
    }
    const windows = wanted.windows.map((w) => ({ ...w, from: w.from ?? inMinutes(0) }));
    const begun = windows.filter((w) => w.from <= inMinutes(0));
    this.tasks.push({
      ...{ task: wanted.task, requester: this.me, priority: wanted.priority ?? "low" },
      ...{ reason: wanted.reason ?? "", windows, active: begun, started: begun.length > 0 },
      preempted: false,
    });
    return this.done();
  }

  private override({ pattern, length, reason = "" }: NewOverride) {
    const until = length ? { until: inMinutes(length / 60) } : {};
    this.overrides.push({
      requester: this.me,
      path: pattern,
      reason,
      from: inMinutes(0),
      ...until,
    });
    return this.done();
  }
}

/** As much of patterns as the tests need. */
const selects = (pattern: string, path: string) =>
  pattern === "" || isUnder(path, pattern.replace(/\/\*\*$/, ""));

function idle(u: Site[number], p: Site[number]["points"][number]): ControlPoint {
  return {
    ...{
      point: `${u.path}/${p.name}`,
      description: "",
      device: u.path,
      unit: p.unit,
      kind: p.kind,
    },
    ...{ writable: p.writable ?? false, default: null, revert: "relinquish", array: [] },
    array_in_device: false,
    ...{
      overrides: [],
      window: null,
      commanded: null,
      wish: null,
      reverting: false,
      output: "idle",
    },
    ...{ held: null, reported: null, observed: p.at(Date.now()), failures: 0 },
  };
}

/** Has a point follow the most urgent level. */
function settle(point: ControlPoint): void {
  point.array.sort((a, b) => (a.level ?? 0) - (b.level ?? 0));
  const value = point.array[0]?.value ?? null;
  point.commanded = value;
  point.wish = value;
  point.held = value;
  point.reported = value;
  point.output = value === null ? "idle" : "held";
}

/** A morning on which several people and programs hold points of the building. */
export function busy(site: Site): Control {
  const made = new Control(site);
  const zone = (n: number) => `campus/hq/floor ${Math.ceil(n / 3)}/zone ${n}/setpoint`;
  const limits = { range: { min: 16, max: 26 }, rate: { most: 0.5, per: 60 }, longest: 8 * 3600 };
  made.change(zone(1), {
    default: 21,
    policy: limits,
    array: [
      slot("person:ann", 8, 21.5, { until: inMinutes(24), reason: "a guest is cold" }),
      slot("agent:comfort", 12, 20.5, { until: inMinutes(3), reason: "occupied" }),
    ],
  });
  made.change(zone(2), {
    array: [slot("person:admin", 8, 23, { until: inMinutes(50) })],
    output: "differs",
    reported: 21.5,
  });
  made.change(zone(4), { array: [slot("agent:peak", 10, 24, { reason: "power limit" })] });
  made.change("campus/hq/ahu1/fan on", {
    array: [slot("agent:night", 13, false, { until: inMinutes(180) })],
    output: "failed",
    failures: 3,
    failed_with: "timeout after 1 s",
  });
  made.change(zone(3), { policy: { approval: true } });
  made.waiting.push(
    slot("person:carla", 8, 26, { path: zone(3), reason: "drying", until: inMinutes(55) }),
  );
  made.overrides.push({
    ...{ requester: "person:bob", path: "campus/hq/floor 2/zone 5/**", from: inMinutes(-30) },
    ...{ until: inMinutes(90), reason: "the valve is replaced" },
  });
  made.tasks.push(
    task("fan test", "person:ann", "campus/hq/ahu1", [-40, 45], { reason: "after the new filter" }),
    task("tune", "agent:comfort", "campus/hq/floor 2/zone 6", [90, 150], {
      priority: "low-preempt",
    }),
    task("inspection", "person:admin", "campus/plant/boiler1", [180, 300], { priority: "high" }),
  );
  return made;
}
