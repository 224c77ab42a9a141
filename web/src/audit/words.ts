import { count, plain, plural } from "../format";
import type { AuditReport } from "../generated/api";
import { coded } from "../language/codes";
import { reasonOf, said } from "../language/said";

/** What following the chain found, in a sentence. */
export function verdict(report: AuditReport): string {
  if (!report.whole) {
    const n = report.problems.length + report.more;
    return `The log is damaged: ${plural(n, "problem")} in ${entries(report)}.`;
  }
  if (report.problems.length > 0) {
    return `The log is whole but for what was accepted: ${plural(report.problems.length, "problem")} in ${entries(report)}.`;
  }
  if (report.entries === 0) return "The log is empty, and nothing is missing.";
  const segments = report.segments > 1 ? ` in ${plural(report.segments, "segment")}` : "";
  return `The log is whole: ${entries(report)}${segments}, each follows from the one before it.`;
}

const entries = ({ entries: n }: AuditReport) => (n === 1 ? "1 entry" : `${count(n)} entries`);

/** What an entry says beyond its columns, as lines; "" if nothing. */
export function detailOf(detail: unknown): string {
  if (detail === undefined || detail === null) return "";
  return plain(typeof detail === "string" ? said(detail) : JSON.stringify(detail, spoken, 2));
}

/** A sentence within a detail in the page's language; names, codes and numbers as they are. */
const spoken = (_: string, value: unknown) =>
  typeof value === "string" && value.includes(" ") ? said(value) : value;

const ending =
  /^(ok|accepted|pending|sent|repeated|refused|missing|failed|internal|invalid|not-found|unreachable|timeout|conflict|unavailable|corrupt|rejected|canceled)(?:: (.*))?$/s;

/** How something ended, and why if it is told. */
export function outcomeWords(outcome: string): string {
  const [, end, why] = ending.exec(outcome) ?? [];
  if (end === undefined) return reasonOf(outcome);
  return why === undefined ? coded(end) : `${coded(end)}: ${outcomeWords(why)}`;
}

/** How what an entry tells of ended: as requested, not, or not yet, in which case a later entry says so. */
export function endOf(outcome: string): "well" | "open" | "failed" {
  if (/^(repeated: )?(ok|accepted)$/.test(outcome)) return "well";
  return /^(repeated: )?(sent|pending)$/.test(outcome) ? "open" : "failed";
}
