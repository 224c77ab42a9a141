import type { Device, Ledger } from "./api";
import { count, plain, plural } from "./format";
import type { Concern } from "./generated/api";
import { nameOf } from "./path";

/** How bad it is. */
export type Level = "good" | "wait" | "warn" | "bad";

/** All of it in one sentence. */
export interface Health {
  level: Level;
  text: string;
}

const levels: Record<string, Level> = {
  online: "good",
  starting: "wait",
  disabled: "wait",
  elsewhere: "wait",
};

/** Whether a device answers, answers only for some of its points, need not answer (yet), or should answer and does not. */
export function deviceLevel(device: Device): Level {
  if (device.state === "online" && device.problem) return "warn";
  return Object.hasOwn(levels, device.state) ? (levels[device.state] ?? "bad") : "bad";
}

/** Whether an origin's books balance: what it produced is stored or on its way. */
export const isComplete = (ledger: Ledger) =>
  (ledger.origins ?? []).every((o) => o.balanced && o.missing === 0 && o.refused === 0);

/** Whether samples come from other nodes: such a node may have no devices of its own. */
export const hasOthers = (ledger: Ledger) => (ledger.origins ?? []).some((o) => !o.own);

/** What the figures about devices and recording say already. */
const figured: readonly string[] = ["devices", "registers", "recorder", "store", "history"];

/** Says how the site does: devices, what was recorded, and how much else the node is concerned about. How bad it is says the node alone. */
export function health(
  devices: readonly Device[],
  ledger: Ledger,
  concerns: readonly Concern[],
): Health {
  const a = deviceHealth(devices, ledger, concerns);
  const b = ledgerHealth(ledger);
  const unwell = concerns.filter(ofDestination).length;
  const others = concerns.filter((c) => !figured.includes(c.part) && !ofDestination(c)).length;
  const words = [
    ...(unwell > 0
      ? [
          `${plural(unwell, "destination")} ${unwell === 1 ? "is behind or refuses" : "are behind or refuse"} readings`,
        ]
      : []),
    ...(others > 0 ? [plural(others, "other concern")] : []),
  ];
  const more = words.map((w) => `; ${w}`).join("");
  return { level: worst(concerns) ?? a.level, text: `${a.text}; ${b}${more}` };
}

/** Whether a concern is about a destination of readings. */
const ofDestination = (c: Concern) => c.link === "/destinations";

/** How bad the worst concern is; undefined if there is none. */
function worst(concerns: readonly Concern[]): Level | undefined {
  if (concerns.some((c) => c.severity === "critical")) return "bad";
  return concerns.length > 0 ? "warn" : undefined;
}

function deviceHealth(
  devices: readonly Device[],
  ledger: Ledger,
  concerns: readonly Concern[],
): Health {
  const asked = devices.filter((d) => d.state !== "disabled");
  const all = asked.length;
  if (devices.length === 0 && hasOthers(ledger)) {
    return { level: "good", text: "All devices are at child nodes" };
  }
  if (devices.length === 0) return { level: "wait", text: "No devices are configured" };
  if (all === 0) return { level: "wait", text: "All devices are disabled" };
  const silent = asked.filter((d) => deviceLevel(d) === "bad");
  if (silent.length > 0) {
    const verb = silent.length === 1 ? "does" : "do";
    const text = `${count(silent.length)} of ${plural(all, "device")} ${verb} not answer (${someNames(silent)})`;
    return { level: "wait", text };
  }
  const useless = asked.filter((d) => answersOnlyWithErrors(d, concerns));
  if (useless.length > 0) {
    const verb = useless.length === 1 ? "gives" : "give";
    const text = `${count(useless.length)} of ${plural(all, "device")} ${verb} no point (${someNames(useless)})`;
    return { level: "wait", text };
  }
  const partial = asked.filter((d) => deviceLevel(d) === "warn");
  if (partial.length > 0) {
    const verb = partial.length === 1 ? "answers" : "answer";
    const text = `${count(partial.length)} of ${plural(all, "device")} ${verb} only in part (${someNames(partial)})`;
    return { level: "wait", text };
  }
  const starting = asked.filter((d) => deviceLevel(d) === "wait").length;
  if (starting > 0) {
    return { level: "wait", text: `${count(starting)} of ${plural(all, "device")} not asked yet` };
  }
  if (all === 1) return { level: "good", text: "The only device answers" };
  return {
    level: "good",
    text: all === 2 ? "Both devices answer" : `All ${count(all)} devices answer`,
  };
}

/** Whether a device answers, but none of its points can be read: the node then calls that critical. */
const answersOnlyWithErrors = (device: Device, concerns: readonly Concern[]) =>
  concerns.some(
    (c) => c.part === "registers" && c.subject === device.path && c.severity === "critical",
  );

function someNames(devices: readonly Device[]): string {
  const names = devices.slice(0, 3).map((d) => plain(nameOf(d.path)));
  const more = devices.length - names.length;
  return more > 0 ? `${names.join(", ")} and ${count(more)} more` : names.join(", ");
}

function ledgerHealth(ledger: Ledger): string {
  const origins = ledger.origins ?? [];
  const sum = (pick: (o: (typeof origins)[number]) => number) =>
    origins.reduce((total, o) => total + pick(o), 0);
  const stored = plural(
    sum((o) => o.stored),
    "sample",
  );
  const missing = sum((o) => o.missing);
  const refused = sum((o) => o.refused);
  if (ledger.reason) return `recording is ${plain(ledger.state)}: ${plain(ledger.reason)}`;
  if (missing > 0) return `${stored} recorded, ${count(missing)} lost`;
  if (refused > 0) return `${stored} recorded, ${count(refused)} refused`;
  if (!isComplete(ledger)) return `${stored} recorded, the books do not balance`;
  return `${stored} recorded, none lost`;
}

const advice: Record<string, string> = {
  unreachable: "The device does not answer. Check its power, cable and address.",
  timeout: "No answer came in time. The line may be slow, or the unit number wrong.",
  rejected: "The device answered and said no. Check the point's address and type.",
  invalid: "The configuration does not fit the device. Change it.",
  "not-found": "The device does not know what was asked for.",
  refused: "The device refuses access. Check the permission.",
  corrupt: "The answer cannot be decoded. Another program may share the line.",
  unavailable: "The node cannot ask it now.",
  conflict: "Somebody else holds the line.",
};

/** What a device's last kind of error means, and what to do. */
export const adviceFor = (kind: string) =>
  Object.hasOwn(advice, kind) ? (advice[kind] ?? "") : "Something went wrong with this device.";
