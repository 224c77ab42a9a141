// What the stand-in answers about the audit log: entries that stand still, and a filter that knows
// patterns with a star at the end, as much as the screen needs.

import type { AuditEntry } from "../src/generated/api";
import type { Call, Handlers } from "./stand";

const began = Date.parse("2026-03-01T08:00:00Z");

const hash = (seq: number) => seq.toString(16).padStart(64, "0");

/** An entry without number and hash. */
export type Noted = Pick<AuditEntry, "actor" | "action" | "subject"> &
  Partial<Pick<AuditEntry, "outcome" | "detail">>;

const fits = (pattern: string | null, text: string) =>
  !pattern || (pattern.endsWith("*") ? text.startsWith(pattern.slice(0, -1)) : text === pattern);

/** The audit log of a stand-in, and what was asked of it. */
export class AuditLog {
  readonly entries: AuditEntry[];
  /** The queries for pages, the latest last. */
  readonly asked: URLSearchParams[] = [];
  /** The number of the entry that somebody changed; 0 for none. */
  damaged = 0;

  constructor(noted: readonly Noted[]) {
    this.entries = noted.map((n, i) => ({
      outcome: "ok",
      ...n,
      seq: i + 1,
      segment: 1,
      time: new Date(began + i * 61_000).toISOString(),
      hash: hash(i + 1),
    }));
  }

  readonly handlers: Handlers = {
    "GET audit": (call) => this.page(call),
    "GET audit/verify": () => ({
      whole: this.damaged === 0,
      entries: this.entries.length,
      first: 1,
      segments: 1,
      head: `${this.entries.length}:${hash(this.entries.length)}`,
      problems: this.damaged === 0 ? [] : [{ seq: this.damaged, detail: "does not fit its hash" }],
      more: 0,
    }),
  };

  private page({ query }: Call) {
    this.asked.push(query);
    const before = Number(query.get("before") ?? 0) || Number.POSITIVE_INFINITY;
    const limit = Number(query.get("limit"));
    const found = this.entries
      .filter((e) => e.seq < before)
      .filter((e) =>
        (["actor", "action", "subject"] as const).every((k) => fits(query.get(k), e[k])),
      )
      .filter((e) => JSON.stringify(e).includes(query.get("text") ?? ""))
      .reverse();
    const entries = found.slice(0, limit);
    return { entries, next: found.length > limit ? (entries.at(-1)?.seq ?? 0) : 0 };
  }
}

/** A morning at a site. */
export const morning: readonly Noted[] = [
  { actor: "node", action: "node.start", subject: "campus", detail: { before: "stopped" } },
  { actor: "person:ann", action: "login", subject: "ann" },
  {
    actor: "person:ann",
    action: "config.apply",
    subject: "voltbus.yaml",
    detail: { added: ["campus/plant/meter"] },
  },
  {
    actor: "person:bob",
    action: "login.failed",
    subject: "bob",
    outcome: "name or password is wrong",
  },
  { actor: "person:bob", action: "login", subject: "bob" },
  {
    actor: "person:ann",
    action: "grants.set",
    subject: "boiler-watch",
    detail: { subscribe: ["campus/plant/**"], publish: ["analysis/**"] },
  },
  {
    actor: "agent:boiler-watch",
    action: "refused",
    subject: "live.point.campus.plant.boiler1.setpoint",
    outcome: "missing: publish campus/plant/boiler1/setpoint",
  },
  {
    actor: "person:ann",
    action: "document.set",
    subject: "agent/boiler-watch:config",
    detail: { version: 3, note: "summer" },
  },
  {
    actor: "person:carla",
    action: "refused",
    subject: "PUT /api/v1/config",
    outcome: "needs the role engineer",
  },
  { actor: "person:ann", action: "token.issue", subject: "logger", detail: { under: "campus/b1" } },
];
