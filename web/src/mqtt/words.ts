import { plain, span } from "../format";
import type { ApplicationCommand, ApplicationEvent, MQTTStatus } from "../generated/api";
import { reasonOf } from "../language/said";

/** The counts of the broker that people look for, with their names. Those of what went wrong only if it did. */
export function facts(s: MQTTStatus): [name: string, value: number][] {
  const always: [string, number][] = [
    ["Clients", s.connected],
    ["Devices", s.devices],
    ["Sessions", s.sessions],
    ["Messages", s.received],
    ["Delivered", s.delivered],
    ["Samples", s.samples],
  ];
  const wrong: [string, number][] = [
    ["Refused clients", s.refused],
    ["Refused by rights", s.unauthorized],
    ["Not decoded", s.undecoded],
    ["Not recorded", s.not_recorded + s.overflow],
    ["Dropped", s.dropped],
  ];
  return [...always, ...wrong.filter(([, n]) => n > 0)];
}

/** A payload as text: JSON with line breaks, if it is whole. */
export function shownPayload(payload: string): string {
  if (payload === "") return "(empty)";
  try {
    const value: unknown = JSON.parse(payload);
    if (typeof value === "object" && value !== null) {
      return JSON.stringify(value, null, 2).split("\n").map(plain).join("\n");
    }
  } catch {
    // not JSON, or only its beginning
  }
  return plain(payload);
}

/** What an application may set, in words. */
export function boundsOf(c: ApplicationCommand): string {
  const step = c.step ? `, steps of ${c.step}` : "";
  return `${c.min} to ${c.max}${step}, every ${span(c.every * 1000)}, for ${span(c.lease * 1000)}, level ${c.level}`;
}

/** What became of a request. */
export function outcomeOf(e: ApplicationEvent): string {
  const what = e.value === undefined ? e.status : `${e.value} ${e.status}`;
  return e.why ? `${what}: ${reasonOf(e.why)}` : what;
}
