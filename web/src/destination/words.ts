// What the screen says of a destination.

import { count, dateTime, plain, plural, span } from "../format";
import type { SinkState } from "../generated/api";
import type { Level } from "../health";
import { reasonOf } from "../language/said";

/** How a destination is: bad while nothing is sent to it, a warning if it lacks readings. */
export function levelOf(s: SinkState): Level {
  if (s.state === "paused") return "bad";
  return s.kept > 0 || s.withheld_kept > 0 || s.missing > 0 || !s.balanced ? "warn" : "good";
}

/** How it is, in a word or two. */
export function stateName(s: SinkState): string {
  if (s.state === "paused") return "Paused";
  if (s.kept > 0) return "Has refused";
  if (s.missing > 0) return "Lacks readings";
  if (!s.balanced) return "Not balanced";
  if (s.withheld_kept > 0) return "Has withheld";
  return s.waiting > 0 ? "Sending" : "Up to date";
}

/** How far behind it is: "nothing waits", or samples and time. */
export function behindWords(s: SinkState, now: number): string {
  if (s.waiting === 0 && s.waiting_samples === 0) return "nothing waits";
  const samples = plural(s.waiting_samples, "sample");
  return s.newest ? `${samples}, ${span(Math.max(0, now - Date.parse(s.newest)))}` : samples;
}

/** What is wrong with it, in one sentence; "" if nothing is. */
export function problemOf(s: SinkState): string {
  if (s.state === "paused") {
    const since = s.since ? ` since ${dateTime(Date.parse(s.since))}` : "";
    return `Nothing is sent${since}: ${reasonOf(s.reason)}`;
  }
  if (s.kept > 0) return `It refused ${plural(s.kept, "reading")}, which are kept here.`;
  if (s.missing > 0)
    return `The log dropped ${plural(s.missing, "reading")} before they could be sent; the history may still have them.`;
  if (s.withheld_kept > 0)
    return `Rules withheld ${plural(s.withheld_kept, "reading")}, which ${s.withheld_kept === 1 ? "waits" : "wait"} for a person.`;
  return "";
}

/** Whether it has every reading that is meant for it. */
export function accountWords(s: SinkState): string {
  const all = plural(s.acknowledged, "reading");
  if (!s.balanced)
    return `Of ${all} acknowledged since it was added, it is not known of each what became of it.`;
  const chosen = s.acknowledged - s.left_out;
  const lacks = [
    [s.waiting_samples, s.waiting_samples === 1 ? "waits" : "wait"],
    [s.refused - s.accepted, "refused"],
    [s.withheld, "withheld by a rule"],
    [s.missing, "dropped by the log"],
  ] as const;
  const open = lacks.filter(([n]) => n > 0).map(([n, what]) => `${count(n)} ${what}`);
  if (open.length > 0)
    return `It has ${count(s.sent + s.accepted)} of ${plural(chosen, "reading")}: ${open.join(", ")}.`;
  return chosen === 0
    ? "No reading for it was recorded yet."
    : `It has every reading: ${count(chosen)} of ${count(chosen)}.`;
}

/** How much of the history was sent, from 0 to 1; undefined if none is being sent. */
export function historyShare(s: SinkState): number | undefined {
  if (!s.history_from || !s.history_to) return undefined;
  const from = Date.parse(s.history_from);
  const to = Date.parse(s.history_to);
  const at = Date.parse(s.history_sent_to ?? s.history_from);
  return to > from ? Math.min(1, Math.max(0, (at - from) / (to - from))) : 1;
}

/** What the page calls a kind of destination. */
export function kindName(kind: string): string {
  const known: Record<string, string> = {
    clickhouse: "ClickHouse",
    elasticsearch: "Elasticsearch",
    influxdb: "InfluxDB",
    kafka: "Kafka",
    mongodb: "MongoDB",
    mysql: "MySQL",
    opentelemetry: "OpenTelemetry",
    prometheus: "Prometheus",
    rabbitmq: "RabbitMQ",
    s3: "S3 (Parquet files)",
    sqlite: "SQLite",
  };
  return Object.hasOwn(known, kind) ? (known[kind] ?? kind) : plain(kind);
}
