import { inSentence } from "../language/codes";
import { language } from "../language/words";
// The plan of who is told of alarms, as the document "escalation" has it.

/** How a contact is told. */
export type By = "email" | "webhook" | "ntfy" | "mqtt" | "push";

/** Somebody who is told. */
export interface Contact {
  name: string;
  by: By;
  to: string;
  server?: string;
  from?: string;
  user?: string;
  secret?: string;
  ca?: string;
}

/** Whom an alarm is told that nobody has acknowledged for so many seconds. */
export interface Step {
  after: number;
  tell: string[];
}

/** When somebody is on call; the times as the document has them. */
export interface Turn {
  who: string;
  from: string;
  to: string;
}

export interface Plan {
  contacts: Contact[];
  steps: Step[];
  calendar?: Turn[];
  least?: "low" | "medium" | "high" | "critical";
  push?: { contact: string; services?: string[] };
}

/** The name that stands in a step for those who are on call. */
export const onCall = "on-call";

export const emptyPlan = (): Plan => ({
  contacts: [],
  steps: [{ after: 0, tell: [onCall] }],
  calendar: [],
});

/** The plan of a document; undefined if it is none that a form can show. */
export function readPlan(text: string): Plan | undefined {
  try {
    const read = JSON.parse(text) as Partial<Plan>;
    const { contacts = [], steps = [], calendar = [] } = read;
    if (![contacts, steps, calendar].every(Array.isArray)) return undefined;
    return { ...read, contacts, steps, calendar };
  } catch {
    return undefined;
  }
}

/** The document of a plan, without what is empty. */
export const writePlan = (plan: Plan): string =>
  `${JSON.stringify(plan, (_, value: unknown) => (value === "" ? undefined : value), 2)}\n`;

/** What the fields of a way of telling are called. */
export interface Way {
  by: By;
  words: string;
  to: string;
  hint: string;
  /** The other fields that it has. */
  more: readonly ("server" | "from" | "user" | "secret" | "ca")[];
}

export const ways: readonly Way[] = [
  {
    by: "email",
    words: "E-mail",
    to: "Address",
    hint: "ada@example.org",
    more: ["server", "from", "user", "secret", "ca"],
  },
  { by: "push", words: "Push to browsers", to: "Account", hint: "ada", more: [] },
  {
    by: "mqtt",
    words: "MQTT",
    to: "Topic",
    hint: "plant/alarms",
    more: ["server", "user", "secret", "ca"],
  },
  {
    by: "webhook",
    words: "Webhook",
    to: "Address",
    hint: "https://desk.example.org/alarms",
    more: ["secret"],
  },
  {
    by: "ntfy",
    words: "ntfy",
    to: "Address",
    hint: "https://ntfy.example.org/plant",
    more: ["secret"],
  },
];

/** The way of telling; one that is not known as the node writes it. */
export const wayOf = (by: string): Way | undefined => ways.find((w) => w.by === by);

/** The contact told in another way, without what only the former way had. */
export function toldBy(contact: Contact, by: By): Contact {
  const next: Contact = { name: contact.name, by, to: "" };
  for (const field of wayOf(by)?.more ?? []) {
    if (field !== "server" && contact[field]) next[field] = contact[field];
  }
  return next;
}

/** The plan with another name for a contact, wherever it stands. */
export function renamed(plan: Plan, index: number, name: string): Plan {
  const old = plan.contacts[index]?.name ?? "";
  const other = (who: string) => (who === old && old !== "" ? name : who);
  return {
    ...plan,
    contacts: plan.contacts.map((c, i) => (i === index ? { ...c, name } : c)),
    steps: plan.steps.map((s) => ({ ...s, tell: s.tell.map(other) })),
    calendar: (plan.calendar ?? []).map((t) => ({ ...t, who: other(t.who) })),
  };
}

/** The plan without a contact, wherever it stands. */
export function without(plan: Plan, index: number): Plan {
  const name = plan.contacts[index]?.name ?? "";
  return {
    ...plan,
    contacts: plan.contacts.filter((_, i) => i !== index),
    steps: plan.steps.map((s) => ({ ...s, tell: s.tell.filter((who) => who !== name) })),
    calendar: (plan.calendar ?? []).filter((t) => t.who !== name),
  };
}

const day = 86_400_000;

/** The turn after the last one: it begins when that ends, lasts as long, and is of the contact who comes next. */
export function nextTurn(plan: Plan, now: number): Turn {
  const names = plan.contacts.map((c) => c.name);
  const last = [...(plan.calendar ?? [])].sort((a, b) => a.to.localeCompare(b.to)).at(-1);
  const who = names[(names.indexOf(last?.who ?? "") + 1) % Math.max(1, names.length)] ?? "";
  const from = last ? Date.parse(last.to) : Math.floor(now / 3_600_000) * 3_600_000;
  const length = last ? Date.parse(last.to) - Date.parse(last.from) : 7 * day;
  return { who, from: new Date(from).toISOString(), to: new Date(from + length).toISOString() };
}

/** A time as a field of the browser has it, by the clock of the browser; "" for what is no time. */
export function fieldOf(time: string): string {
  const at = Date.parse(time);
  if (Number.isNaN(at)) return "";
  const here = new Date(at - new Date(at).getTimezoneOffset() * 60_000);
  return here.toISOString().slice(0, 16);
}

/** The inverse of fieldOf. */
export const timeOf = (field: string): string => {
  const at = new Date(field);
  return Number.isNaN(at.getTime()) ? "" : at.toISOString();
};

/** What is missing in a plan; "" if nothing is. The node checks the rest. */
export function missing(plan: Plan): string {
  for (const [i, c] of plan.contacts.entries()) {
    if (c.name.trim() === "") return `Write a name for contact ${i + 1}.`;
    if (c.to.trim() === "")
      return `${c.name}: write ${inSentence(wayOf(c.by)?.to ?? "to", language)}.`;
    if (c.by === "push" && !plan.push)
      return `${c.name}: pushes are off. Write an address for the push services, below.`;
    if (plan.contacts.findIndex((o) => o.name === c.name) !== i)
      return `Two contacts are called ${c.name}.`;
  }
  for (const [i, t] of (plan.calendar ?? []).entries()) {
    if (!t.who) return `Write who is on call in turn ${i + 1}.`;
    if (!(Date.parse(t.to) > Date.parse(t.from))) return `Turn ${i + 1} ends before it begins.`;
  }
  return "";
}
