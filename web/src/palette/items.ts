// What the palette offers at this node to whoever is logged in.

import { openWords } from "../alarm/words";
import type { Api, Device, Session } from "../api";
import { boardAddress } from "../dashboard/calls";
import { viewAddress } from "../explorer/view-address";
import type {
  Alarms,
  Dashboards,
  Document,
  Documents,
  Nodes,
  Point,
  Points,
  Processes,
  SavedViews,
  Schedules,
} from "../generated/api";
import { nameOf, relativeTo } from "../path";
import type { Part } from "../shell/parts";
import {
  agentAddress,
  deviceAddress,
  documentAddress,
  go,
  nodeAddress,
  pointAddress,
} from "../shell/place";
import { includes } from "../shell/role";
import { type Screen, screens } from "../shell/screens";
import { chooseTheme, type Theme } from "../shell/theme";
import type { Item } from "./match";

/** What the shell knows that the palette needs. */
export interface Known {
  session: Session;
  parts: ReadonlySet<Part>;
  alarms: Alarms | undefined;
  devices: readonly Device[];
  onLogOut(): void;
}

/** The screens that somebody may see here. */
export const screenItems = ({ session, parts }: Known): Item[] =>
  screens
    .filter((s) => s.place !== "link" && includes(session.role, s.role))
    .filter((s) => !s.part || parts.has(s.part))
    .map((s) => ({
      key: `screen ${s.path}`,
      group: "Screens" as const,
      text: s.name,
      more: s.group ?? "",
      also: alsoOf(s),
      run: () => go(`/${s.path}`),
    }));

/** Other words for a screen that people look for. */
const others: Record<string, string> = {
  "": "home health",
  site: "tree values live",
  control: "commands overrides",
  alarms: "alerts acknowledge shelve",
  timeline: "events history log",
  handover: "night morning print summary",
  explore: "plot trend chart export",
  reports: "pdf mail letter week print",
  ledger: "outages completeness",
  settings: "configuration yaml",
  people: "users accounts passwords tokens",
  destinations: "sinks export forward",
  bus: "messages nats",
  nodes: "children parent fleet",
};

const alsoOf = (screen: Screen) => `${screen.path} ${others[screen.path] ?? ""}`;

/** What can be done. */
export function actionItems(known: Known, onSet: () => void): Item[] {
  const { session, alarms, onLogOut } = known;
  const may = (role: Parameters<typeof includes>[1]) => includes(session.role, role);
  const action = (text: string, more: string, also: string, run: () => void): Item => ({
    ...{ key: `action ${text}`, group: "Actions", text, more, also, run },
  });
  const open = alarms && alarms.open > 0 ? openWords(alarms.open) : "";
  return [
    ...(may("operator")
      ? [
          action("Acknowledge alarms", open, "alerts", () => go("/alarms")),
          {
            ...action("Set a point…", "choose it next", "control command override write", onSet),
            stays: true,
          },
        ]
      : []),
    ...(may("engineer")
      ? [
          action("Add a device…", "", "new driver modbus bacnet scan list", () =>
            go("/devices/add"),
          ),
        ]
      : []),
    ...themes.map(({ theme, text }) =>
      action(text, "", "theme appearance mode", () => chooseTheme(theme)),
    ),
    action("Log out", session.user, "sign out leave", onLogOut),
  ];
}

const themes: { theme: Theme; text: string }[] = [
  { theme: "light", text: "Light colours" },
  { theme: "dark", text: "Dark colours" },
  { theme: "system", text: "Colours as the system has them" },
];

/** The devices. */
export const deviceItems = (devices: readonly Device[]): Item[] =>
  devices.map((d) => ({
    key: `device ${d.path}`,
    group: "Devices",
    text: nameOf(d.path),
    more: d.path,
    isPath: true,
    also: `${d.driver} ${d.line} ${d.state}`,
    run: () => go(deviceAddress(d.path)),
  }));

/** A point, by what it is if somebody said so. */
export const pointItem = (p: Point): Item => ({
  key: `point ${p.path}`,
  group: "Points",
  text: p.description.trim() || (relativeTo(p.path, p.device) ?? p.path),
  more: p.path,
  isPath: true,
  also: p.unit,
  run: () => go(pointAddress(p.path)),
});

/** How many points the node is asked for. */
export const mostPoints = 100;

/** The points whose path, description or unit have all the words, without those that a node makes of commands. */
export async function findPoints(
  api: Api,
  search: string,
  writable: boolean,
  signal: AbortSignal,
): Promise<{ points: Point[]; more: boolean }> {
  const answer = await api.get<Points>("points", { search, limit: mostPoints }, signal);
  const points = answer.points.filter(
    (p) => p.tags?.source !== "control" && (!writable || p.writable),
  );
  return { points, more: answer.next !== "" };
}

/** What people keep at the node and look for by its name: dashboards, views, agents, schedules, nodes and other documents. */
export async function savedItems(api: Api): Promise<Item[]> {
  const [boards, views, agents, schedules, nodes, documents] = await Promise.all([
    ask<Dashboards>(api, "dashboards"),
    ask<SavedViews>(api, "views"),
    ask<Processes>(api, "processes"),
    ask<Schedules>(api, "schedules"),
    ask<Nodes>(api, "nodes"),
    ask<Documents>(api, "documents"),
  ]);
  const saved = (kind: string, name: string, address: string, also = ""): Item => ({
    ...{ key: `${kind} ${name} ${address}`, group: "Saved", text: name, more: kind, also },
    run: () => go(address),
  });
  return [
    ...(boards?.dashboards ?? []).map(({ name, title, sharing }) => {
      const which = { name, sharing: sharing === "owner" ? "owner" : "all" } as const;
      const kind = which.sharing === "owner" ? "own dashboard" : "dashboard";
      return saved(kind, title || name, boardAddress(which), name);
    }),
    ...(views?.views ?? []).map((v) => saved("saved view", v.name, viewAddress(v.link), v.note)),
    ...(agents?.processes ?? []).map((a) => saved("agent", a.name, agentAddress(a.name))),
    ...(schedules?.schedules ?? []).map((s) => saved("schedule", s.schedule.name, `/schedules`)),
    ...(nodes?.nodes ?? []).map((n) => saved("node", n.name, nodeAddress(n.name))),
    ...(documents?.documents ?? [])
      .filter((d) => !hasName(d))
      .map((d) => saved("document", d.name, documentAddress(d.owner, d.name), d.owner)),
  ];
}

/** Whether a document is offered as a dashboard or a saved view already, by the name that people gave it. */
const hasName = ({ name }: Document) => /^(dashboards|views)\//.test(name);

/** What a resource answers; undefined where there is none, or not for this person. */
const ask = <T>(api: Api, resource: string): Promise<T | undefined> =>
  api.get<T>(resource).catch(() => undefined);
