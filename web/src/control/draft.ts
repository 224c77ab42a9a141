import { plural } from "../format";
import type { ControlPoint, NewCommand, Value } from "../generated/api";
import { inDoubt, numeral, wrongNumber } from "../language/number";
import { rangeWords } from "./words";

/** What somebody typed to set a point. */
export interface Draft {
  value: string;
  level: number;
  /** Seconds, "" until it is released, or "other". */
  lease: string;
  /** Minutes, if the lease is "other". */
  minutes: string;
  reason: string;
}

/** A command that can be sent, or why what was typed is none. */
export type Read = { command: NewCommand & { value: Value; level: number } } | { problem: string };

/** The leases to choose from, in seconds. */
const usual = [900, 3600, 4 * 3600, 12 * 3600, 24 * 3600, 7 * 24 * 3600];

/** The leases that a point allows; "" is there if it takes a command without one. */
export function leasesOf(point: ControlPoint): string[] {
  const longest = point.policy?.longest ?? 0;
  if (longest === 0) return [...usual.map(String), "", "other"];
  const fit = usual.filter((s) => s < longest).map(String);
  return [...fit, String(longest), "other"];
}

/** An empty form. A command ends by itself unless somebody wants otherwise. */
export function newDraft(point: ControlPoint, level: number): Draft {
  const leases = leasesOf(point);
  const value = point.kind === "bool" ? "true" : "";
  const lease = leases.includes("3600") ? "3600" : (leases.at(-2) ?? "");
  return { value, level, lease, minutes: "", reason: "" };
}

/** Reads a form. */
export function readDraft(draft: Draft, point: ControlPoint): Read {
  const value = typedValue(draft.value, point);
  if (typeof value === "object" && value !== null) return value;
  const lease = leaseOf(draft);
  if (lease === undefined) return { problem: "Write for how many minutes it counts." };
  const longest = point.policy?.longest ?? 0;
  if (longest > 0 && lease > longest) {
    return { problem: `The point takes leases of at most ${plural(longest / 60, "minute")}.` };
  }
  const reason = draft.reason.trim();
  return {
    command: {
      point: point.point,
      value,
      level: draft.level,
      ...(lease > 0 ? { lease } : {}),
      ...(reason ? { reason } : {}),
    },
  };
}

function leaseOf({ lease, minutes }: Draft): number | undefined {
  if (lease !== "other") return Number(lease);
  const n = numeral(minutes);
  return minutes.trim() !== "" && n > 0 && n <= 50_000_000 ? n * 60 : undefined;
}

/** A value of the point's kind. A comma is taken for a decimal point. */
function typedValue(text: string, point: ControlPoint): Value | { problem: string } {
  const { kind, policy } = point;
  if (kind === "bool") return text === "true";
  if (kind === "text") return text === "" ? { problem: "Write a text." } : text;
  const n = numeral(text);
  if (!Number.isFinite(n)) {
    if (kind === "none" && text !== "" && !inDoubt(text)) return text;
    const range = rangeWords(policy?.range, point.unit);
    return { problem: wrongNumber(text, `Write a number, ${range}.`) };
  }
  if (kind === "int" && !Number.isInteger(n)) return { problem: "Write a whole number." };
  const { min = n, max = n } = policy?.range ?? {};
  if (n < min || n > max) {
    return { problem: `The point takes values ${rangeWords(policy?.range, point.unit)}.` };
  }
  return n;
}

/** An identifier, so that a repeat of a request is not acted upon twice. */
export function newId(): string {
  // crypto.randomUUID is missing where a page comes over plain HTTP
  const random = crypto.getRandomValues(new Uint8Array(12));
  return `web-${[...random].map((b) => b.toString(16).padStart(2, "0")).join("")}`;
}
