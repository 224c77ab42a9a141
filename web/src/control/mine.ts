import { plural } from "../format";
import type { ControlPoint } from "../generated/api";
import type { Holdings } from "./calls";

/** What somebody holds. */
export interface Mine {
  commands: number;
  /** Points of the commands. */
  points: readonly string[];
  tasks: number;
  waiting: number;
}

/** What a requester holds of all that is held. */
export function mineOf({ points, tasks, waiting }: Holdings, me: string): Mine {
  const own = points.filter((p) => p.array.some((s) => s.requester === me));
  return {
    commands: own.flatMap((p) => p.array.filter((s) => s.requester === me)).length,
    points: own.map((p) => p.point),
    tasks: tasks.filter((t) => t.requester === me).length,
    waiting: waiting.filter((s) => s.requester === me).length,
  };
}

/** What somebody holds in words: "3 commands on 2 points and 1 reservation"; "" for nothing. */
export function mineWords(mine: Mine): string {
  const parts = [
    mine.commands > 0
      ? `${plural(mine.commands, "command")} on ${plural(mine.points.length, "point")}`
      : "",
    mine.waiting > 0
      ? `${plural(mine.waiting, "command")} that ${mine.waiting === 1 ? "waits" : "wait"} for approval`
      : "",
    mine.tasks > 0 ? plural(mine.tasks, "reservation") : "",
  ].filter((part) => part !== "");
  const last = parts.pop() ?? "";
  return parts.length === 0 ? last : `${parts.join(", ")} and ${last}`;
}

/** What became of points after everything on them was released. */
export function afterWords(mine: Mine, after: readonly ControlPoint[]): string {
  const left = after.filter((p) => mine.points.includes(p.point));
  const follow = left.filter((p) => p.array.length > 0).length;
  const going = left.filter((p) => p.array.length === 0).length;
  const back = mine.points.length - follow - going;
  const said = [
    back > 0 ? `${plural(back, "point")} went back` : "",
    going > 0 ? `${plural(going, "point")} ${going === 1 ? "is" : "are"} going back` : "",
    follow > 0 ? `${plural(follow, "point")} ${follow === 1 ? "follows" : "follow"} others` : "",
  ].filter((part) => part !== "");
  const ended = mineWords(mine);
  const what = ended === "" ? "There was nothing of yours." : `Ended: ${ended}.`;
  return said.length === 0 ? what : `${what} ${said.join("; ")}.`;
}
