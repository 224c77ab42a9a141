import type { Device, Ledger } from "../api";
import { plain, plural } from "../format";
import { deviceLevel, type Level } from "../health";
import { reasonOf } from "../language/said";
import { nameOf } from "../path";
import { deviceAddress } from "../shell/place";

/** Something that happened. */
export interface Happening {
  /** Milliseconds since 1970. */
  at: number;
  level: Level;
  text: string;
  address: string;
}

/** A version of the configuration, as the node keeps it. */
export interface Change {
  time: string;
  user: string;
}

/** What the events are taken from. */
export interface Sources {
  devices: readonly Device[];
  ledger: Ledger;
  /** When the node's process began, "" if unknown. */
  started: string;
  changes: readonly Change[];
}

/** What happened since a moment, the newest first. */
export function happenings(sources: Sources, since: number): Happening[] {
  const found = [
    ...sources.devices.flatMap(ofDevice),
    ...ofLedger(sources.ledger),
    ...sources.changes.map(ofChange),
  ];
  const begun = Date.parse(sources.started);
  if (begun > 0) found.push({ at: begun, level: "good", text: "The node started", address: "" });
  return found.filter((h) => h.at >= since).sort((a, b) => b.at - a.at);
}

function ofDevice(d: Device): Happening[] {
  const name = plain(nameOf(d.path));
  const address = deviceAddress(d.path);
  const failed = Date.parse(d.last_error_time ?? "");
  const read = Date.parse(d.last_read ?? "");
  if (deviceLevel(d) === "bad") {
    const text =
      read > 0
        ? `${name} stopped answering`
        : `${name} has not answered since the node began to ask it`;
    const at = read > 0 ? read : failed;
    return at > 0 ? [{ at, level: "bad", text, address }] : [];
  }
  if (!(failed > 0) || d.state === "disabled") return [];
  const text = silent.includes(d.error_kind)
    ? `${name} failed to answer; it does again since`
    : `${name} answered a request with an error`;
  return [{ at: failed, level: "warn", text, address }];
}

/** Kinds of errors of a device that said nothing; with others it answered. */
const silent: readonly string[] = ["unreachable", "timeout"];

function ofLedger(ledger: Ledger): Happening[] {
  const gaps = (ledger.gaps ?? []).map((g) => ({
    at: Date.parse(g.noticed),
    level: "bad" as const,
    text: `${plural(g.samples, "sample")} of ${plain(g.origin)} went missing: ${reasonOf(g.reason)}`,
    address: "/ledger",
  }));
  const damages = (ledger.damaged ?? []).map((d) => ({
    at: Date.parse(d.noticed),
    level: "warn" as const,
    text: `${plain(d.file)} was found damaged and set aside`,
    address: "/ledger",
  }));
  return [...gaps, ...damages];
}

const ofChange = ({ time, user }: Change): Happening => ({
  at: Date.parse(time),
  level: "good",
  text: user ? `${plain(user)} changed the configuration` : "The configuration changed",
  address: "/settings",
});
