import { plain, span } from "../format";
import type { Commanded, ControlHolder, ControlPoint, Value } from "../generated/api";
import type { Level } from "../health";
import { reasonOf } from "../language/said";
import { untilWords, withUnit } from "./words";

/** What became of a command, for a person. */
export interface Told {
  level: Level;
  words: string;
  holders: readonly ControlHolder[];
}

/** What became of a command in words. */
export function resultOf(
  result: Commanded,
  wanted: Value,
  { unit }: Pick<ControlPoint, "unit">,
  now: number,
): Told {
  const { error } = result;
  if (result.status === "refused") {
    const missing = error?.missing ? ` Missing: ${plain(error.missing)}.` : "";
    const words = `Refused: ${reasonOf(error?.message ?? "the node did not say why")}.${missing}`;
    return { level: "bad", words, holders: error?.holders ?? [] };
  }
  const none: readonly ControlHolder[] = [];
  if (result.status === "failed") {
    const words = `Failed: ${reasonOf(error?.message ?? "the device refused it")}. The command is gone, and the point is as it was before.`;
    return { level: "bad", words, holders: none };
  }
  if (result.status === "pending") {
    const until = untilWords(result.until, now);
    const words = `It needs approval by a second person, ${until}, and does not count before.`;
    return { level: "wait", words, holders: none };
  }
  if (!result.wins) {
    const words = "It is taken, and waits behind a more urgent level.";
    return { level: "wait", words, holders: none };
  }
  const value = withUnit(wanted, unit);
  const reported = withUnit(result.reported, unit);
  const later = Date.parse(result.later ?? "");
  if (later > now) {
    const words = `It is taken; the point follows in ${span(later - now)}, or in steps.`;
    return { level: "wait", words, holders: none };
  }
  const said = error ? ` The device says: ${reasonOf(error.message)}.` : "";
  switch (result.output) {
    case "waiting": {
      const words = `It is taken, and held back; the device reports ${reported}.`;
      return { level: "wait", words, holders: none };
    }
    case "held":
      return { level: "good", words: `Done: the device reports ${reported}.`, holders: none };
    case "mismatch":
    case "differs":
      return {
        level: "warn",
        words: `The device took ${value} and reports ${reported}.`,
        holders: none,
      };
    case "failed":
      return {
        level: "bad",
        words: `It is taken, but could not be written; it is tried again.${said}`,
        holders: none,
      };
    case "unknown":
      return {
        level: "warn",
        words: `It is not known whether the device took it; the node reads it and finds out.${said}`,
        holders: none,
      };
    default:
      return { level: "wait", words: `It is taken, and being written.${said}`, holders: none };
  }
}
