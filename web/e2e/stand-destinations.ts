// What the stand-in answers about its destinations.

import type {
  AllRules,
  AllSinks,
  SinkForm,
  SinkForms,
  SinkRefusal,
  SinkState,
  WithheldReading,
} from "../src/generated/api";
import { type Call, type Handlers, Refusal } from "./stand";

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

const sink = (name: string, kind: string, more: Partial<SinkState>): SinkState => ({
  ...{ name, kind, address: `https://${kind}.example:9200`, into: "readings", state: "ok" },
  ...{ reason: "", waiting: 0, waiting_samples: 0, acknowledged: 4_120_400, balanced: true },
  ...{ sent: 4_020_400, left_out: 100_000, refused: 0, kept: 0, accepted: 0, discarded: 0 },
  ...{ withheld: 0, withheld_kept: 0, missing: 0, filled: 0, newest: ago(1) },
  ...more,
});

const fields: SinkForm["fields"] = [
  { key: "url", type: "text", doc: "url is its address; the guide tells what each kind reads." },
  { key: "user", type: "text", doc: "user is the user name. Without one there is a token." },
  { key: "password_file", type: "file", doc: "password_file holds the password or the token." },
  { key: "ca", type: "file", doc: "ca is the PEM file with the authorities." },
  { key: "into", type: "text", doc: "into is the index, table or topic that gets the readings." },
  { key: "points", type: "list", doc: "points are patterns of the points that are sent." },
  { key: "tags", type: "map", doc: "tags are sent with each reading, by name." },
  { key: "batch", type: "number", doc: "batch is the largest number of readings in a request." },
  { key: "from", type: "text", doc: "from is the day since which it gets the history." },
];

const kinds: SinkForm[] = [
  {
    ...{ kind: "elasticsearch", title: "Elasticsearch, OpenSearch", into: "Index", fields },
    address: "https://search.example:9200",
  },
  {
    ...{ kind: "kafka", title: "Kafka", into: "Topic", fields },
    address: "kafkas://kafka-1.example:9093",
  },
];

/** Destinations: one that has everything, one that is away, one that refused readings. */
export class Destinations {
  /** What was asked for: "resend search" and so on. */
  readonly asked: string[] = [];
  /** Why a request is refused, "" if it is not. */
  refuses = "";
  list: SinkState[];
  refusals: SinkRefusal[];

  constructor(private readonly odd = "") {
    this.list = [
      sink(`stream${odd}`, "kafka", {
        address: "kafkas://kafka-1.example:9093",
        filled: 18_204_112,
      }),
      sink("search", "elasticsearch", {
        ...{ state: "paused", since: ago(185), newest: ago(186), waiting: 91, sent: 4_010_145 },
        ...{ waiting_samples: 10_252 },
        ...{ withheld: 3, withheld_kept: 3 },
        reason: `https://elasticsearch.example:9200: nothing listens there; start it, or write another address${odd}`,
      }),
      sink("warehouse", "mysql", {
        ...{ address: "mysqls://sql.example:3306/plant", refused: 2, kept: 2, sent: 4_020_398 },
        ...{
          history_from: ago(86_400 * 30),
          history_to: ago(0),
          history_sent_to: ago(86_400 * 12),
        },
      }),
    ];
    this.refusals = [1, 2].map((n) => ({
      point: `campus/plant/boiler1/mode${odd}`,
      ...{ time: ago(60 * n), value: "heat", quality: "good", refused: ago(58 * n) },
      reason: "the column value takes numbers only",
    }));
    this.withheld = [
      ["boiler1", "500", "supply-range", "500 is not from -20 to 90"],
      ["boiler1", "-300", "supply-range", "-300 is not from -20 to 90"],
      ["boiler2", "71.5", "spike", "71.5 is too far from 42.25, 1m0s before"],
    ].map(([device = "", value = "", rule = "", reason = ""], n) => ({
      ...{ point: `campus/plant/${device}/supply_temp${odd}`, value, rule, quality: "good" },
      ...{ time: ago(600 - 60 * n), withheld: ago(599 - 60 * n), reason },
    }));
  }

  /** What rules withhold from the destination search. */
  withheld: WithheldReading[];

  /** What rules withhold from the parent; nothing if none holds for it. */
  parents: AllRules["kept"] = [];

  /** The rules with what they found. */
  private rules(): AllRules {
    const rule = { sink: "search", withheld: 0, marked: 0, unjudged: 0 };
    const held = this.withheld.length;
    return {
      rules: [
        { ...rule, rule: "supply-range", check: "range", withheld: 2 },
        { ...rule, rule: "spike", check: "rate", withheld: 1, marked: 0 },
        {
          ...{ ...rule, rule: "plausible", check: "function", marked: 412, unjudged: 12 },
          failing: `/etc/voltbus/rules/plausible.py, line 9: ZeroDivisionError: division by zero${this.odd}`,
        },
        ...this.parents.map(({ sink, withheld }) => ({
          ...{ ...rule, sink, rule: "supply-range", check: "range" as const, withheld },
        })),
      ],
      kept: [
        {
          ...{ sink: "search", withheld: 3, kept: held, sending: 0 },
          ...{ released: 3 - held, discarded: 0, unkept: 0 },
        },
        ...this.parents,
      ],
    };
  }

  private judge({ resource, query, body }: Call) {
    const what = resource.split("/")[2];
    const rule = query.get("rule") ?? (body as { rule?: string } | undefined)?.rule ?? "";
    const chosen = this.withheld.filter((r) => !rule || r.rule === rule);
    if (what === "withheld") return { readings: chosen, kept: this.withheld.length };
    if (this.refuses) return new Refusal(400, this.refuses);
    const [parent] = resource.split("/")[1] === "parent" ? this.parents : [];
    this.asked.push(`${what} ${rule || "all"}${parent ? " parent" : ""}`);
    if (parent) {
      const readings = parent.kept;
      Object.assign(parent, { kept: 0, sending: readings });
      return { readings, kept: 0 };
    }
    this.withheld = this.withheld.filter((r) => !chosen.includes(r));
    Object.assign(this.of(resource) ?? {}, { withheld_kept: this.withheld.length });
    return { readings: chosen.length, kept: this.withheld.length };
  }

  private of = (resource: string) =>
    this.list.find((s) => s.name === decodeURIComponent(resource.split("/")[1] ?? ""));

  /** What was stored, by name. */
  readonly stored = new Map<string, Record<string, unknown>>();
  /** Names that a position is kept for. */
  readonly remembered = new Set<string>();

  private settings(resource: string) {
    const s = this.of(resource);
    const settings = s && {
      ...{ kind: s.kind, url: s.address, into: s.into, password_file: "secrets/password" },
      tags: { building: "{1}" },
    };
    const remembered = this.remembered.has(resource.split("/")[1] ?? "") || s !== undefined;
    return { settings: settings ?? {}, there: s !== undefined, remembered };
  }

  readonly handlers: Handlers = {
    "PUT sinks/*": ({ resource, body }) => {
      const request = body as Record<string, unknown>;
      if (this.refuses && !request.untried) return new Refusal(502, this.refuses);
      const name = resource.split("/")[1] ?? "";
      this.stored.set(name, request);
      const { kind = "" } = request.settings as { kind?: string };
      if (!this.of(resource))
        this.list.push(sink(name, kind, { acknowledged: 0, sent: 0, left_out: 0 }));
      return { version: "2", changes: { restart: [], words: ["sinks is changed"] } };
    },
    "DELETE sinks/*": ({ resource, query }) => {
      const gone = this.of(resource);
      this.asked.push(`remove ${gone?.name}${query.get("forget") ? " forget" : ""}`);
      this.list = this.list.filter((s) => s !== gone);
      return { version: "3", changes: { restart: [], words: ["sinks is changed"] } };
    },
    "GET judge": () => this.rules(),
    "GET judge/*": (request) => this.judge(request),
    "POST judge/*": (request) => this.judge(request),
    "GET sinks": (): AllSinks => ({ sinks: this.list }),
    "GET sinks/kinds": (): SinkForms => ({ kinds }),
    "GET sinks/*": ({ resource }) => {
      if (resource.endsWith("/settings")) return this.settings(resource);
      const kept = this.of(resource)?.kept ?? 0;
      return { refusals: kept > 0 ? this.refusals : [], kept };
    },
    "POST sinks/*": ({ resource, body }) => {
      if (this.refuses) return new Refusal(400, this.refuses);
      if (resource.endsWith("/try")) return undefined;
      const s = this.of(resource);
      const what = resource.split("/")[2] ?? "";
      if (!s) return new Refusal(404, "there is no such destination");
      this.asked.push(`${what} ${s.name}`);
      if (what === "backfill") {
        const { from } = body as { from: string };
        Object.assign(s, { history_from: from, history_to: ago(0), history_sent_to: from });
        return undefined;
      }
      const readings = s.kept;
      Object.assign(s, { kept: 0, accepted: what === "resend" ? readings : 0 });
      return { readings, kept: 0 };
    },
  };
}
