import type { Device, Ledger } from "../api";
import { count, plain, plural } from "../format";
import type { Health, Node } from "../generated/api";
import { adviceFor, deviceLevel, type Level } from "../health";
import { nodeStanding } from "../node/fleet";
import { nameOf } from "../path";
import { deviceAddress, nodeAddress } from "../shell/place";

/** Something that is wrong, what to do about it, and where to look. */
export interface Trouble {
  level: Level;
  title: string;
  advice: string;
  /** What the device or the node says itself. */
  detail: string;
  address: string;
}

/** A part of the node, and whether it is well. */
export type Part = NonNullable<Health["parts"]>[number];

/** As many devices are named one by one; more are told of together. */
const mostNamed = 4;

/** What is wrong, the worst first: the recording, then lines, then devices, then the past. */
export function troubles(devices: readonly Device[], ledger: Ledger): Trouble[] {
  const found = [
    ...recording(ledger),
    ...silence(devices),
    ...gaps(devices),
    ...losses(ledger),
    ...damages(ledger),
  ];
  const rank = (t: Trouble) => (t.level === "bad" ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b));
}

function recording(ledger: Ledger): Trouble[] {
  if (!ledger.reason) return [];
  const isBacklog = ledger.state === "backlog";
  return [
    {
      level: isBacklog ? "warn" : "bad",
      title: isBacklog ? "The history is behind" : "Nothing is recorded now",
      advice: isBacklog
        ? "Samples are safe in the log and wait for the store. Remove the cause; the rest happens by itself."
        : "Remove the cause; recording goes on by itself.",
      detail: plain(ledger.reason),
      address: "/ledger",
    },
  ];
}

/** Silent devices. A line on which all are silent is one trouble, not many. */
function silence(devices: readonly Device[]): Trouble[] {
  const asked = devices.filter((d) => d.state !== "disabled");
  const lines = new Map<string, Device[]>();
  for (const d of asked) lines.set(d.line, [...(lines.get(d.line) ?? []), d]);
  const found: Trouble[] = [];
  const single: Device[] = [];
  for (const [line, mates] of lines) {
    const silent = mates.filter((d) => deviceLevel(d) === "bad");
    if (silent.length === mates.length && silent.length > 1) found.push(silentLine(line, silent));
    else single.push(...silent);
  }
  found.push(...single.slice(0, mostNamed).map(silentDevice));
  const more = single.length - mostNamed;
  if (more > 0) {
    found.push({
      level: "bad",
      title: `${plural(more, "more device")} ${more === 1 ? "does" : "do"} not answer`,
      advice: "The site screen lists them, those in trouble first.",
      detail: "",
      address: "/site?branch=",
    });
  }
  return found;
}

function silentLine(line: string, devices: readonly Device[]): Trouble {
  const first = devices[0];
  return {
    level: "bad",
    title: `All ${count(devices.length)} devices of line ${plain(line)} are silent`,
    advice: "Look for what they share first: the gateway, its cable, its power, its address.",
    detail: plain(first?.last_error ?? ""),
    address: first ? deviceAddress(first.path) : "/site",
  };
}

const silentDevice = (d: Device): Trouble => ({
  level: "bad",
  title: `${plain(nameOf(d.path))} does not answer`,
  advice: d.state === "hung" ? hungAdvice : adviceFor(d.error_kind),
  detail: plain(d.last_error),
  address: deviceAddress(d.path),
});

/** Devices that answer, but not for all of their points. */
function gaps(devices: readonly Device[]): Trouble[] {
  const partial = devices.filter((d) => deviceLevel(d) === "warn");
  return partial.slice(0, mostNamed).map((d, i) => {
    const more = i === mostNamed - 1 ? partial.length - mostNamed : 0;
    return {
      level: "warn",
      title:
        more > 0
          ? `${plain(nameOf(d.path))} and ${count(more)} more answer only in part`
          : `${plain(nameOf(d.path))} answers only in part`,
      advice: "Its other points are read. The points concerned are bad until this is corrected.",
      detail: plain(d.problem),
      address: deviceAddress(d.path),
    };
  });
}

const hungAdvice = "The driver of its line does not return. Restart the node if that lasts.";

/** Nodes below this one that are away, or whose data is not taken. Nothing is lost by that as long as they have room. */
export function absences(nodes: readonly Node[], now: number): Trouble[] {
  const missed = nodes.filter((n) => nodeStanding(n, now).level === "bad");
  const found = missed.slice(0, mostNamed).map((n): Trouble => {
    const isAway = n.state === "away";
    return {
      level: "warn",
      title: `${plain(n.name)}${isAway ? " is" : ":"} ${nodeStanding(n, now).words}`,
      advice: isAway
        ? "What it records meanwhile waits on its disk, and comes when it is back. Check its power and its network."
        : "Its page says why. What it records waits there meanwhile.",
      detail: plain(n.link_note ?? ""),
      address: nodeAddress(n.name),
    };
  });
  const more = missed.length - mostNamed;
  if (more > 0) {
    found.push({
      level: "warn",
      title: `${plural(more, "more node")} ${more === 1 ? "is" : "are"} away or not taken from`,
      advice: "The screen of the nodes lists them.",
      detail: "",
      address: "/nodes?only=troubled",
    });
  }
  return found;
}

/** Parts of the node's health that neither the devices nor the ledger tell of. */
const partTitles: Record<string, readonly [title: string, address: string]> = {
  agents: ["Agents do not work", "/agents"],
  alerts: ["Alerts are open", "/alerts"],
  approvals: ["Nodes wait for approval", "/nodes"],
  audit: ["The audit log needs attention", "/audit"],
  control: ["Commands are not carried out", "/control"],
};

/** What the node's own health says beside devices and recording: alerts, agents, approvals, commands, the audit log. */
export function concerns(parts: readonly Part[]): Trouble[] {
  return parts.flatMap((p): Trouble[] => {
    const known = Object.hasOwn(partTitles, p.name) ? partTitles[p.name] : undefined;
    if (p.status === "ok" || !known) return [];
    return [
      { level: "warn", title: known[0], advice: "", detail: plain(p.reason), address: known[1] },
    ];
  });
}

function losses(ledger: Ledger): Trouble[] {
  const found: Trouble[] = [];
  for (const o of ledger.origins ?? []) {
    if (o.missing > 0) {
      found.push({
        level: "bad",
        title: `${plural(o.missing, "sample")} of ${plain(o.origin)} ${o.missing === 1 ? "is" : "are"} lost`,
        advice: "They cannot be brought back. The ledger says when and why.",
        detail: plain(ledger.gaps?.find((g) => g.origin === o.origin)?.reason ?? ""),
        address: "/ledger",
      });
    }
    if (o.refused > 0) {
      found.push({
        level: "warn",
        title: `${plural(o.refused, "sample")} of ${plain(o.origin)} ${o.refused === 1 ? "was" : "were"} refused`,
        advice: "They were never recorded, and who sent them was told. The ledger counts them.",
        detail: "",
        address: "/ledger",
      });
    }
  }
  return found;
}

function damages(ledger: Ledger): Trouble[] {
  const damaged = ledger.damaged ?? [];
  const first = damaged[0];
  if (!first) return [];
  return [
    {
      level: "warn",
      title: `${plural(damaged.length, "piece")} of the history cannot be read`,
      advice: "The rest is served. Bring the file back from a backup if you need it.",
      detail: `${plain(first.file)}: ${plain(first.reason)}`,
      address: "/ledger",
    },
  ];
}
