import { dateMinute, hourMinute, plain, plural, shortTime, span, unit, value } from "../format";
import type {
  ControlHolder,
  ControlPoint,
  ControlPolicy,
  ControlRange,
  ControlSlot,
  Value,
} from "../generated/api";
import type { Level } from "../health";
import { decimal } from "../language/number";
import { reasonOf } from "../language/said";
import { levelWords } from "./levels";

/** Who asks, as control knows people. */
export const requesterOf = (user: string) => `person:${user}`;

/** A requester for people: "you", "ann", "the agent tune". */
export function whoWords(requester: string, me: string): string {
  if (requester === me) return "you";
  const at = requester.indexOf(":");
  const [kind, name] = [requester.slice(0, at), requester.slice(at + 1)];
  if (kind === "person") return plain(name);
  return kind === "agent" ? `the agent ${plain(name)}` : plain(requester);
}

/** The commanded value of a point; a node before 0.5 knows it by another name only. */
export const commandedValue = (point: ControlPoint): Value =>
  (point as Partial<ControlPoint>).commanded ?? point.wish;

/** A value that somebody wrote, as it was written: "22.5", not "22.50". */
export function asSet(v: Value | undefined): string {
  if (typeof v !== "number" || Number.isInteger(v) || Math.abs(v) < 1e-4) return value(v);
  return decimal(Number(v.toPrecision(7)), 7);
}

/** A value with its unit. */
export function withUnit(v: Value | undefined, name: string): string {
  const symbol = unit(plain(name));
  return symbol === "" || typeof v !== "number" ? asSet(v) : `${asSet(v)} ${symbol}`;
}

const far = 20 * 3_600_000;

/** Until when something goes: "14:05 (in 12 min)", or "until it is released" without an end. */
export function untilWords(until: string | undefined, now: number): string {
  const end = Date.parse(until ?? "");
  if (Number.isNaN(end)) return "until it is released";
  const left = end - now;
  if (left <= 0) return "until now";
  const at = left < far ? hourMinute(end) : shortTime(end);
  return `until ${at} (${span(left)})`;
}

/** A command that is there: "22 °C at level 8, manual operator, of ann until 14:05 (12 min)". */
export function slotWords(slot: ControlSlot, unitName: string, me: string, now: number): string {
  const level = slot.level === undefined ? "" : ` at level ${levelWords(slot.level)}`;
  return `${withUnit(slot.value, unitName)}${level}, of ${whoWords(slot.requester, me)}, ${untilWords(slot.until, now)}`;
}

/** A span of numbers: "from 18 to 26 °C", "at least 5", "any number". */
export function rangeWords(range: ControlRange | undefined, unitName: string): string {
  const { min, max } = range ?? {};
  if (min !== undefined && max !== undefined)
    return `from ${asSet(min)} to ${withUnit(max, unitName)}`;
  if (min !== undefined) return `at least ${withUnit(min, unitName)}`;
  return max === undefined ? "any number" : `at most ${withUnit(max, unitName)}`;
}

/** A length of time with all that belongs to it: "1 min 30 s", "8 h". */
export function lengthWords(seconds: number): string {
  const parts: string[] = [];
  let rest = Math.round(seconds * 1000) / 1000;
  for (const [size, name] of [
    [86_400, "d"],
    [3600, "h"],
    [60, "min"],
  ] as const) {
    const n = Math.floor(rest / size);
    if (n > 0) parts.push(`${n} ${name}`);
    rest -= n * size;
  }
  if (rest > 0 || parts.length === 0) parts.push(`${asSet(rest)} s`);
  return parts.join(" ");
}

/** What a point demands of commands, a sentence each. */
export function demands(policy: ControlPolicy | undefined, unitName: string): string[] {
  const p = policy ?? {};
  const found: string[] = [];
  if (p.range) found.push(`Values ${rangeWords(p.range, unitName)}.`);
  if (p.longest)
    found.push(`A lease of at most ${lengthWords(p.longest)}: commands are renewed, or end.`);
  if (p.rate) {
    const step = withUnit(p.rate.most, unitName);
    found.push(`It follows in steps of at most ${step}, one in ${lengthWords(p.rate.per)}.`);
  }
  if (p.min_on) found.push(`Once on, it stays on for ${lengthWords(p.min_on)}.`);
  if (p.min_off) found.push(`Once off, it stays off for ${lengthWords(p.min_off)}.`);
  for (const lock of p.interlocks ?? []) {
    const own = lock.guards ? `Values ${rangeWords(lock.guards, unitName)} only` : "Only";
    found.push(`${own} while ${plain(lock.other)} is ${rangeWords(lock.needs, "")}.`);
  }
  if (p.reservation) found.push("Only who has reserved it commands it.");
  if (p.approval) found.push("A second person approves each command.");
  return found;
}

/** What a point is set to when its last command ended. */
export function revertWords(point: ControlPoint): string {
  const standard = point.default !== null;
  const toDefault = `goes back to its default, ${withUnit(point.default, point.unit)}`;
  if (point.revert === "before") {
    return `goes back to what it was before the first command${standard ? ", or to its default" : ""}`;
  }
  return standard ? toDefault : "is given back to the device";
}

/** What a point is doing, for a dot and in words. */
export interface Doing {
  level: Level;
  /** One word for a table. */
  word: string;
  /** For its own page. */
  words: string;
}

/** What is known of what a point was set to. */
export function doing(point: ControlPoint, now: number): Doing {
  const wish = withUnit(commandedValue(point), point.unit);
  const reported = withUnit(point.reported, point.unit);
  const later = Date.parse(point.later ?? "");
  const wait = later > now ? ` It goes on in ${span(later - now)}.` : "";
  switch (point.output) {
    case "writing":
      return { level: "wait", word: "writing", words: `${wish} is being written.` };
    case "differs":
      return {
        level: "warn",
        word: "differs",
        words: `The device took ${withUnit(point.held, point.unit)}, and reports ${reported}. It is not written again; look at the device.`,
      };
    case "mismatch":
      return {
        level: "bad",
        word: "mismatch",
        words: `The device reports ${reported} and should report ${wish}. Somebody changed it at the device, or it lost the value. Set the point again, or look at the device.${wait}`,
      };
    case "failed":
      return {
        level: "bad",
        word: "failed",
        words: `${wish} could not be written, ${plural(point.failures, "time")} in a row, and is tried again.${said(point)}${wait}`,
      };
    case "unknown":
      return {
        level: "warn",
        word: "unknown",
        words: `What the point has is not known: it cannot be read now, or an answer was lost. It is read, and written if it differs.${said(point)}`,
      };
    default:
      return calm(point, wait);
  }
}

const said = ({ failed_with: text }: ControlPoint) => (text ? ` It says: ${reasonOf(text)}.` : "");

function calm(point: ControlPoint, wait: string): Doing {
  const held = withUnit(point.held, point.unit);
  if (point.overrides.length > 0) {
    const frozen = "Overridden: no command reaches it.";
    return { level: "warn", word: "overridden", words: frozen };
  }
  if (point.reverting) {
    return { level: "wait", word: "goes back", words: `It ${revertWords(point)}.${wait}` };
  }
  if (point.array.length === 0) {
    return { level: "wait", word: "free", words: "Nobody commands it." };
  }
  if (point.output === "waiting" || wait !== "") {
    const words = `It is at ${held}; a rate, a minimum time or a pause holds back ${withUnit(commandedValue(point), point.unit)}.${wait}`;
    return { level: "wait", word: "waiting", words };
  }
  if (point.output === "held") {
    return { level: "good", word: "confirmed", words: `The device reports ${held}, as commanded.` };
  }
  return { level: "wait", word: "waits", words: "The command is not written yet." };
}

/** Who stands in the way or holds something: who, what, when and why. */
export function holderWords(h: ControlHolder, me: string, now: number): string {
  const what = h.task
    ? ` with the reservation ${plain(h.task)}`
    : h.level
      ? ` at level ${levelWords(h.level)}`
      : "";
  const where = h.path ? ` of ${plain(h.path)}` : "";
  const from = Date.parse(h.from ?? "");
  const begins = from > now ? ` from ${dateMinute(from)}` : "";
  const ends = begins && h.until ? ` to ${dateMinute(Date.parse(h.until))}` : "";
  const when = ends === "" ? `, ${untilWords(h.until, now)}` : `,${begins}${ends}`;
  const why = h.reason ? `: ${plain(h.reason)}` : "";
  return `${whoWords(h.requester, me)}${what}${where}${when}${why}`;
}
