import type { ControlPoint } from "../generated/api";
import { type Doing, doing } from "./words";

/** Which points are shown. */
export const choices = [
  { key: "", label: "All" },
  { key: "mine", label: "Mine" },
  { key: "trouble", label: "Mismatch" },
] as const;

/** A point that is held, with what it is doing. */
export interface HeldRow {
  point: ControlPoint;
  doing: Doing;
}

const rank = { bad: 0, warn: 1, wait: 2, good: 3 } as const;

/** The points of a choice, those that need somebody first. */
export function heldRows(
  points: readonly ControlPoint[],
  choice: string,
  me: string,
  now: number,
): HeldRow[] {
  return points
    .map((point) => ({ point, doing: doing(point, now) }))
    .filter(({ point, doing: d }) => {
      if (choice === "mine") return point.array.some((s) => s.requester === me);
      return choice !== "trouble" || d.level === "bad" || d.level === "warn";
    })
    .sort(
      (a, b) =>
        rank[a.doing.level] - rank[b.doing.level] || (a.point.point < b.point.point ? -1 : 1),
    );
}

/** Whether a held point has all words of a search in its name, in who holds it, or in why. */
export function hasWords({ point, doing: d }: HeldRow, search: string): boolean {
  const holders = point.array.flatMap((s) => [s.requester, s.reason ?? ""]);
  const text = [point.point, point.description ?? "", d.word, ...holders].join(" ").toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
