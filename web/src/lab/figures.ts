import { locale } from "../language/words";
import type { Figure, Measured, Run } from "./calls";

/** One case of a result: ours beside what was published and what peers reached. */
export interface CaseRow {
  name: string;
  own: Measured | undefined;
  published: readonly Figure[];
  /** Peers of the same run, and the peer's figure of another time. */
  peers: readonly Figure[];
  ratios: readonly { against: string; times: number; sameRun: boolean }[];
}

/** The subject of what is measured on Voltbus itself. */
const own = "voltbus";

/** A figure of a result, in three digits. */
export const figure = (n: number) =>
  Number.isFinite(n) ? n.toLocaleString(locale, { maximumSignificantDigits: 3 }) : "–";

/** "3.2 × better", "1.5 × worse"; the same within a twentieth. */
export function ratioWords(times: number): string {
  if (!(times > 0)) return "–";
  if (times > 0.95 && times < 1.05) return "the same";
  return times > 1 ? `${figure(times)} × better` : `${figure(1 / times)} × worse`;
}

/** The cases of a result in their order, each with all its subjects. */
export function casesOf(measured: readonly Measured[]): CaseRow[] {
  const names = [...new Set(measured.map((m) => m.case.name))];
  return names.map((name) => {
    const here = measured.filter((m) => m.case.name === name);
    const ours = here.find((m) => m.subject === own);
    const beside = here
      .filter((m) => m.subject !== own)
      .map((m) => ({ label: m.subject, value: m.median }));
    return {
      name,
      own: ours,
      published: ours?.published ?? [],
      peers: ours?.peer ? [...beside, ours.peer] : beside,
      ratios: (ours?.ratios ?? []).map((r) => ({
        against: r.against,
        times: r.times,
        sameRun: r.same_run,
      })),
    };
  });
}

/** The medians of several runs of an experiment, case by case; undefined where a run had no such case. */
export function compareRuns(
  runs: readonly Run[],
): { name: string; medians: (number | undefined)[] }[] {
  const cases = runs.map((r) => (r.result?.cases ?? []).filter((m) => m.subject === own));
  const names = [...new Set(cases.flatMap((c) => c.map((m) => m.case.name)))];
  return names.map((name) => ({
    name,
    medians: cases.map((c) => c.find((m) => m.case.name === name)?.median),
  }));
}
