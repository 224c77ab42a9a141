import { fromField } from "../audit/filter";
import type { ControlHolder, ControlTask, ControlWindow, NewTask } from "../generated/api";
import { isUnder } from "../path";

/** The priorities with what they mean. */
export const priorities = {
  low: "gives way to high until it begins",
  "low-preempt": "always gives way to high",
  high: "gives way to nobody, and takes the place of others",
} as const;

/** A priority of a reservation. */
export type Priority = keyof typeof priorities;

/** What somebody typed to reserve something. */
export interface Typed {
  task: string;
  /** A path on each line. */
  paths: string;
  /** Of a field of date and time; "" is now. */
  from: string;
  to: string;
  priority: Priority;
  reason: string;
}

/** Reads a form; a problem says what is missing. */
export function readTask(typed: Typed, now: number): { task: NewTask } | { problem: string } {
  const paths = [...new Set(typed.paths.split("\n").map((p) => p.trim()))].filter((p) => p !== "");
  const [from, to] = [fromField(typed.from), fromField(typed.to)];
  if (typed.task.trim() === "") return { problem: "Give it a name, so that others know it." };
  if (paths.length === 0)
    return { problem: "Write what to reserve: a device or branch on each line." };
  if (to === "") return { problem: "Write until when." };
  if (Date.parse(to) <= now) return { problem: "The end is over already." };
  if (Date.parse(to) <= (from === "" ? now : Date.parse(from))) {
    return { problem: "The end must come after the beginning." };
  }
  const inner = paths.find((p) => paths.some((other) => other !== p && isUnder(p, other)));
  if (inner !== undefined) return { problem: `${inner} lies below another line; leave it out.` };
  const reason = typed.reason.trim();
  return {
    task: {
      task: typed.task.trim(),
      priority: typed.priority,
      windows: paths.map((path) => ({ path, to, ...(from === "" ? {} : { from }) })),
      ...(reason ? { reason } : {}),
    },
  };
}

/** Who would stand in the way of a reservation, and which would give way to it. */
export interface Contest {
  standing: ControlHolder[];
  yielding: ControlTask[];
  /** A reservation of the same name. */
  isNamed: boolean;
}

/** Compares a reservation with those that are there. Windows that touch do not overlap. */
export function contest(tasks: readonly ControlTask[], wanted: NewTask, now: number): Contest {
  const found: Contest = { standing: [], yielding: [], isNamed: false };
  for (const task of tasks) {
    if (task.task === wanted.task) found.isNamed = true;
    const met = task.windows.filter((w) => wanted.windows.some((other) => overlap(w, other, now)));
    if (met.length === 0) continue;
    if (givesWay(task, wanted)) found.yielding.push(task);
    else {
      for (const w of met) {
        const { requester, reason } = task;
        const until = { ...(w.from ? { from: w.from } : {}), until: w.to };
        found.standing.push({ requester, task: task.task, path: w.path, reason, ...until });
      }
    }
  }
  return found;
}

const givesWay = (task: ControlTask, { priority }: NewTask) =>
  priority === "high" &&
  (task.preempted || task.priority === "low-preempt" || (task.priority === "low" && !task.started));

function overlap(a: ControlWindow, b: ControlWindow, now: number): boolean {
  if (!isUnder(a.path, b.path) && !isUnder(b.path, a.path)) return false;
  const begin = (w: ControlWindow) => (w.from ? Date.parse(w.from) : now);
  return begin(a) < Date.parse(b.to) && begin(b) < Date.parse(a.to);
}
