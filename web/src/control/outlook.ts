import { plain, shortTime } from "../format";
import type { ControlPoint, ControlSlot, NewCommand, Value } from "../generated/api";
import { emergency, levelWords, mayUse, protection, roleFor } from "./levels";
import {
  lengthWords,
  rangeWords,
  revertWords,
  slotWords,
  untilWords,
  whoWords,
  withUnit,
} from "./words";

/** What would become of a command, as far as one can see; the node decides. */
export interface Outlook {
  verdict: "wins" | "waits" | "asks" | "refused";
  /** In words, the most important first. */
  lines: string[];
}

/** Who looks, and when. */
export interface Viewer {
  me: string;
  role: string;
  now: number;
}

type Command = NewCommand & { value: Value; level: number };

/** Says what a command would do: whether it is taken, whether it wins, and how it ends. */
export function outlook(point: ControlPoint, command: Command, viewer: Viewer): Outlook {
  const refusal = refusalOf(point, command, viewer);
  if (refusal !== "") return { verdict: "refused", lines: [refusal] };
  const ahead = point.array.find((s) => (s.level ?? 0) < command.level);
  const lines = [
    ...(point.policy?.approval ? ["It needs approval by a second person."] : []),
    ahead ? waitsWords(point, command, ahead, viewer) : winsWords(point, command),
    ...replacedWords(point, command, viewer),
    ...conditions(point, command),
    endWords(point, command, viewer),
  ];
  if (point.policy?.approval) return { verdict: "asks", lines };
  return { verdict: ahead ? "waits" : "wins", lines };
}

/** Why a command would not be taken; "" if nothing is in the way. */
function refusalOf(point: ControlPoint, { level }: Command, viewer: Viewer): string {
  const { me, role, now } = viewer;
  if (!point.writable) return "The point is read-only.";
  if (!mayUse(role, level)) return `Level ${level} needs the role ${roleFor(level)}.`;
  const [override] = point.overrides;
  if (override) {
    const why = override.reason ? ` (${plain(override.reason)})` : "";
    return `It would be refused: ${whoWords(override.requester, me)} overrode the point ${untilWords(override.until, now)}${why}.`;
  }
  const { window } = point;
  if (window && window.requester !== me && level > emergency) {
    return `It would be refused: ${whoWords(window.requester, me)} has reserved ${plain(window.path ?? "it")} for ${plain(window.task ?? "a task")}, ${untilWords(window.until, now)}. Wait, or reserve it with priority high.`;
  }
  if (point.policy?.reservation && window?.requester !== me && level > emergency) {
    return "It would be refused: the point demands a reservation. Reserve it or its device first.";
  }
  if (level === protection + 1 && (point.policy?.min_on || point.policy?.min_off)) {
    return `It would be refused: level ${level} is kept for the minimum times of the point. Take another level.`;
  }
  const other = point.array.find((s) => s.level === level && s.requester !== me);
  if (other && (window?.requester !== me || level <= emergency)) {
    return `It would be refused: ${whoWords(other.requester, me)} holds level ${level} ${untilWords(other.until, now)}. Take another level, or ask for its release.`;
  }
  return "";
}

function winsWords(point: ControlPoint, { value }: Command): string {
  const wanted = withUnit(value, point.unit);
  if (point.output === "failed") {
    return `It wins, but the last command could not be written. ${wanted} is tried until the device takes it.`;
  }
  if (point.observed === null) {
    return `It wins, but the device cannot be read now. ${wanted} is written when the device answers again.`;
  }
  return `It wins: the point is set to ${wanted} at once.`;
}

function waitsWords(point: ControlPoint, command: Command, ahead: ControlSlot, viewer: Viewer) {
  const { me, now } = viewer;
  return `It waits: ${slotWords(ahead, point.unit, me, now)}, goes before level ${command.level}. The point follows yours when that ends.`;
}

/** What happens to the commands that are there. */
function replacedWords(point: ControlPoint, { level }: Command, { me, now }: Viewer): string[] {
  const found: string[] = [];
  const same = point.array.find((s) => s.level === level);
  if (same?.requester === me)
    found.push(`It replaces your own ${withUnit(same.value, point.unit)}.`);
  else if (same) {
    found.push(
      `It takes the level over from ${whoWords(same.requester, me)}, because you have reserved the point.`,
    );
  }
  const behind = point.array.find((s) => (s.level ?? 0) > level);
  if (behind) found.push(`Behind it waits ${slotWords(behind, point.unit, me, now)}.`);
  return found;
}

function conditions({ policy, unit }: ControlPoint, { level, value }: Command): string[] {
  const found: string[] = [];
  if (policy?.rate && level > emergency) {
    const step = withUnit(policy.rate.most, unit);
    found.push(`It follows in steps of at most ${step}, one in ${lengthWords(policy.rate.per)}.`);
  }
  const rest = value ? policy?.min_off : policy?.min_on;
  if (rest && level > protection) {
    found.push(
      `It turns ${value ? "on" : "off"} only after ${lengthWords(rest)} in the state before.`,
    );
  }
  for (const lock of policy?.interlocks ?? []) {
    const { min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY } = lock.guards ?? {};
    const n = Number(value);
    if (n < min || n > max) continue;
    found.push(`It is taken only while ${plain(lock.other)} is ${rangeWords(lock.needs, "")}.`);
  }
  return found;
}

/** How it ends, and what comes then. */
function endWords(point: ControlPoint, { level, lease }: Command, { me, now }: Viewer): string {
  const rest = point.array.filter((s) => s.level !== level);
  const next = rest[0];
  const then = next
    ? `the point follows ${whoWords(next.requester, me)} at level ${levelWords(next.level ?? 0)}, if that is still there`
    : `the point ${revertWords(point)}`;
  if (!lease) return `It stays until somebody releases it; then ${then}.`;
  const end = shortTime(now + lease * 1000);
  return `It ends by itself after ${lengthWords(lease)}, at ${end}; then ${then}.`;
}
