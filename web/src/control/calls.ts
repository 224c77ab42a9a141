import type { Api } from "../api";
import type {
  Commanded,
  CommandResults,
  CommandSelection,
  ControlDecided,
  ControlHolder,
  ControlOverrides,
  ControlPoint,
  ControlPoints,
  ControlSlot,
  ControlSlots,
  ControlTask,
  ControlTasks,
  NewCommand,
  NewOverride,
  NewTask,
  Priorities,
  WhoHolds,
} from "../generated/api";
import { isUnder, patternFor } from "../path";

/** All that is commanded, needs approval or is overridden now. */
export interface Holdings {
  points: readonly ControlPoint[];
  /** There are more points than these. */
  isCut: boolean;
  waiting: readonly ControlSlot[];
  overrides: readonly ControlHolder[];
  tasks: readonly ControlTask[];
}

/** Who holds one point, with the reservations around it. */
export const whoHolds = (api: Api, path: string) => api.get<WhoHolds>("control/who", { path });

/** What all systems command a point to in its device, which is asked. */
export const inDevice = (api: Api, path: string) =>
  api.get<Priorities>("control/priorities", { path });

/** The points of a branch as those see them who command them. */
export async function pointsOf(api: Api, path: string): Promise<ControlPoint[]> {
  const page = await api.get<ControlPoints>("control/points", {
    pattern: patternFor(path),
    limit: 5000,
  });
  return page.points.filter((p) => isUnder(p.point, path));
}

/** Everything that control holds. */
export async function holdings(api: Api): Promise<Holdings> {
  const [busy, waiting, overrides, tasks] = await Promise.all([
    api.get<ControlPoints>("control/points", { busy: "true", limit: 1000 }),
    api.get<ControlSlots>("control/waiting"),
    api.get<ControlOverrides>("control/overrides"),
    tasksOf(api),
  ]);
  return {
    points: busy.points,
    isCut: busy.next !== "",
    waiting: waiting.commands,
    overrides: overrides.overrides,
    tasks,
  };
}

/** Reservations that overlap a span of time. */
export async function tasksOf(api: Api, from?: number, to?: number): Promise<ControlTask[]> {
  const query: Record<string, string> = {};
  if (from !== undefined) query.from = new Date(from).toISOString();
  if (to !== undefined) query.to = new Date(to).toISOString();
  return (await api.get<ControlTasks>("control/tasks", query)).tasks;
}

/** Sets a point, and tells what became of it. */
export async function command(api: Api, one: NewCommand): Promise<Commanded> {
  const { results } = await api.send<CommandResults>("POST", "control/commands", {
    commands: [one],
  });
  const [result] = results;
  if (!result) throw new Error("The node did not say what became of the command.");
  return result;
}

/** The commands of a requester. */
export const heldBy = async (api: Api, requester: string) =>
  (await api.get<ControlSlots>("control/held", { requester })).commands;

/** Ends commands. */
export const release = (api: Api, selection: CommandSelection) =>
  api.send<ControlDecided>("POST", "control/release", selection);

/** Ends every command at and below a path, whoever made it; over some seconds one point after the other. */
export const revert = (api: Api, path: string, spread: number) =>
  api.send<ControlDecided>("POST", "control/revert", spread > 0 ? { path, spread } : { path });

/** Reserves paths. */
export const reserve = (api: Api, task: NewTask) =>
  api.send<ControlDecided>("POST", "control/tasks", task);

/** Ends a reservation. */
export const cancel = (api: Api, task: string) =>
  api.send<ControlDecided>("DELETE", `control/tasks/${encodeURIComponent(task)}`);

/** Overrides points. */
export const override = (api: Api, wanted: NewOverride) =>
  api.send<ControlDecided>("POST", "control/overrides", wanted);

/** Ends an override. */
export const clearOverride = (api: Api, pattern: string) =>
  api.send<ControlDecided>("DELETE", `control/overrides?${new URLSearchParams({ pattern })}`);

/** Says a second person's word. */
export const approve = (api: Api, requester: string, id: string, agree: boolean) =>
  api.send<ControlDecided>("POST", "control/waiting", { requester, id, agree });
