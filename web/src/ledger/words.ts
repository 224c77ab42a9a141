import type { Ledger, Origin } from "../api";
import { count, plain, plural } from "../format";
import type { Health } from "../health";
import { reasonOf } from "../language/said";

/** The sum of a figure over all origins. */
export const sumOf = (origins: readonly Origin[], pick: (o: Origin) => number) =>
  origins.reduce((sum, o) => sum + pick(o), 0);

/** The account in one sentence. */
export function sentence(ledger: Ledger): Health {
  const origins = ledger.origins ?? [];
  const sum = (pick: (o: Origin) => number) => sumOf(origins, pick);
  const produced = sum((o) => o.produced);
  const missing = sum((o) => o.missing);
  const refused = sum((o) => o.refused);
  const waiting = sum((o) => o.backlog_samples);
  if (ledger.reason) {
    return {
      level: "bad",
      text: `Recording is ${plain(ledger.state)}: ${reasonOf(ledger.reason)}`,
    };
  }
  if (produced === 0) return { level: "wait", text: "Nothing was produced yet." };
  if (missing > 0) {
    const text = `${count(missing)} of ${plural(produced, "sample")} are lost. The gaps below say whose and why.`;
    return { level: "bad", text };
  }
  if (refused > 0) {
    const text = `${count(refused)} of ${plural(produced, "sample")} were refused: they were never recorded, and who sent them was told so.`;
    return { level: "warn", text };
  }
  if (!origins.every((o) => o.balanced)) {
    return { level: "warn", text: "The books do not balance yet: a figure is still on its way." };
  }
  const tail = waiting > 0 ? `, ${count(waiting)} of them still on the way into the history` : "";
  return {
    level: "good",
    text: `All ${plural(produced, "sample")} are on disk, none is lost${tail}.`,
  };
}

/** Samples that were produced and neither acknowledged nor refused yet. */
export const inMemory = (o: Origin) => Math.max(0, o.produced - o.acknowledged - o.refused);

/** Whether each figure of an origin follows from the one before. */
export const follows = (o: Origin) => ({
  acknowledged: o.produced === o.acknowledged + o.refused + inMemory(o),
  stored: o.acknowledged === o.stored + o.missing + o.left_out + o.backlog_samples,
});

const reasons: Record<string, string> = {
  dropped:
    "The log was full and gave up its oldest blocks before they were stored. Give it more room, or find out why the history was away.",
  corrupt: "Blocks were there and could not be read. Check the disk.",
  unknown: "Blocks never arrived, and nobody knows why.",
};

/** What the reason of a gap means. */
export const meaningOf = (reason: string) =>
  Object.hasOwn(reasons, reason) ? (reasons[reason] ?? "") : "";
