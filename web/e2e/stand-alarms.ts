// What the stand-in answers about alarms.

import type {
  Alarm,
  AlarmChange,
  AlarmPeople,
  AlarmRule,
  Alarms,
  NodeAlarms,
  TriedPoints,
} from "../src/generated/api";
import { type Handlers, Refusal } from "./stand";

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

const quiet: Alarm = {
  node: "",
  known: true,
  id: "",
  state: "unacknowledged",
  active: true,
  priority: "medium",
  rule: "",
  agent: "",
  key: "",
  point: "",
  description: "",
  unit: "",
  text: "",
  limit: "",
  value: "",
  now: "",
  since: ago(754),
  count: 1,
  first: false,
  group: "",
  acknowledged_by: "",
  acknowledged_at: null,
  note: "",
  shelved_until: null,
  shelved_by: "",
  removed_by: "",
  unjudged: "",
};

/** An alarm of a rule on a point. */
export const onPoint = (rule: string, point: string, more: Partial<Alarm> = {}): Alarm => ({
  ...quiet,
  id: `${rule}@${point}`,
  rule,
  point,
  text: `${point} is above 80`,
  limit: "is above 80",
  unit: "degC",
  value: "81.2",
  now: "84.5",
  ...more,
});

/** Four alarms, of rules and of an agent. */
export const some = (): Alarm[] => [
  onPoint("supply-high", "campus/b1/ahu1/supply_temp", {
    priority: "critical",
    description: "Supply air temperature, air handler 1",
    text: "The supply air is too hot",
    first: true,
  }),
  {
    ...quiet,
    id: "agent:boiler-watch@service",
    agent: "boiler-watch",
    key: "service",
    priority: "low",
    text: "4,000 hours of operation: service is due",
    since: ago(86_400),
  },
  onPoint("supply-high", "campus/b1/ahu2/supply_temp", {
    state: "returned",
    active: false,
    now: "61",
    since: ago(3600),
  }),
  onPoint("zone-stale", "campus/b1/zone4/temp", {
    state: "shelved",
    text: "campus/b1/zone4/temp has no new value",
    limit: "has no new value",
    shelved_until: new Date(Date.now() + 3_600_000).toISOString(),
    shelved_by: "ada",
    note: "sensor is being changed",
  }),
];

const often0 = { alarm: "supply-high@b/p", rule: "supply-high", point: "b/p", text: "too hot" };

/** A change of an alarm. */
export const changed = (number: number, event: AlarmChange["event"], by = ""): AlarmChange => ({
  number,
  time: ago(600 - number),
  alarm: "supply-high@b/p",
  rule: "supply-high",
  point: "b/p",
  event,
  from: "",
  to: "",
  by,
  note: "",
  priority: "high",
  text: "The supply air is too hot",
  value: "81.2",
  first: false,
});

const nobody = (): AlarmPeople => ({
  on_call: [],
  contacts: [],
  wrong: "",
  troubles: [],
  push_key: "",
  pushed: false,
  browsers: [],
});

/** The alarms and rules of a stand-in. */
export class AlarmStand {
  /** What operators did, such as "acknowledge supply-high@… on my way". */
  acts: string[] = [];
  rules: AlarmRule[] = [];
  /** Who was first to acknowledge; "" for nobody. */
  first = "";
  flood: string | null = null;
  nodes: NodeAlarms[] = [];
  changes: AlarmChange[] = [];
  /** The document of who is told, and its version; 0 for none. */
  plan = { text: "", version: 0 };
  people: AlarmPeople = nobody();
  /** Why a test of a contact fails; "" if it does not. */
  unheard = "";

  constructor(public list: Alarm[]) {}

  private answer(): Alarms {
    const open = this.list.filter((a) => a.state !== "shelved").length;
    const counts = { all: this.list.length, open, flood: this.flood, recent: open };
    return { alarms: this.list, ...counts, nodes: this.nodes, version: "", same: false };
  }

  readonly handlers: Handlers = {
    "GET alarms": () => this.answer(),
    "GET alarms/history": () => ({ changes: this.changes, next: 0 }),
    "GET alarms/rates": () => {
      const often = { ...often0, times: 12, share: 0.5, most: 4 };
      const counts = {
        alarms: 24,
        per_hour: 0.14,
        peak: 11,
        flood: 0.001,
        by_priority: { high: 24 },
      };
      const span = { from: ago(7 * 86_400), to: ago(0) };
      return { ...span, ...counts, top: [often], chattering: [often], standing: [] };
    },
    "GET alarms/people": () => this.people,
    "POST alarms/people/test": ({ body }) => {
      if (this.unheard) return new Refusal(503, this.unheard, "unavailable");
      this.acts.push(`test ${(body as { contact: string }).contact}`);
      return undefined;
    },
    "POST alarms/browsers": ({ body }) => {
      const { name, endpoint, p256dh, auth } = body as Record<string, string>;
      return void this.acts.push(`browser ${name} ${endpoint} ${p256dh?.length} ${auth?.length}`);
    },
    "GET documents/text": () => {
      if (this.plan.version === 0)
        return new Refusal(404, "there is no such document", "not_found");
      return { owner: "shared", name: "escalation", type: "json", ...this.plan };
    },
    "PUT documents/text": ({ body }) => {
      const draft = body as { text: string; expect: number };
      if (draft.expect !== this.plan.version)
        return new Refusal(409, "somebody was first", "conflict");
      this.plan = { text: draft.text, version: draft.expect + 1 };
      const { contacts } = JSON.parse(draft.text) as Pick<AlarmPeople, "contacts">;
      this.people = { ...this.people, contacts, on_call: contacts.slice(0, 1).map((c) => c.name) };
      return { owner: "shared", name: "escalation", type: "json", ...this.plan };
    },
    "GET alarms/rules": () => ({
      rules: this.rules.map((rule) => ({ rule, version: 1, by: "person:ada", wrong: "" })),
    }),
    "PUT alarms/rules": ({ body }) => {
      const { expect: _, ...rule } = body as AlarmRule & { expect: number };
      this.rules.push(rule);
      return { rule, version: 1, by: "person:ada", wrong: "" };
    },
    "POST alarms/rules/try": ({ body }): TriedPoints => {
      const point = (body as AlarmRule).points[0] ?? "";
      const found = {
        point,
        description: "",
        unit: "",
        time: ago(1),
        value: "90",
        active: true,
        unjudged: "",
      };
      return { points: [found], all: 1, active: 1 };
    },
    "POST alarms/*": ({ resource, body, query }) => {
      const verb = resource.split("/")[1] ?? "";
      const { alarm, note } = body as { alarm: string; note: string };
      if (verb === "acknowledge" && this.first)
        return new Refusal(409, `${this.first} acknowledged it`, "conflict");
      const node = query.get("node");
      this.acts.push(`${verb} ${alarm} ${note}`.trim() + (node ? ` at ${node}` : ""));
      const state = verb === "shelve" ? "shelved" : "acknowledged";
      this.list = this.list.flatMap((a) => {
        if (a.id !== alarm) return [a];
        return a.state === "returned" ? [] : [{ ...a, state }];
      });
      return undefined;
    },
  };
}
