// The table of screens: what the navigation shows, and which chunk draws it. A new screen is a
// folder with a component and one line here.

import type { ComponentType } from "preact";
import type { AlarmList } from "../alarm/use-alarms";
import type { Api, Session } from "../api";
import type { Books } from "../use-site";
import type { IconName } from "./icons";
import type { Part } from "./parts";
import type { Place } from "./place";
import type { Role } from "./role";

/** What the shell gives to each screen. */
export interface ScreenProps {
  api: Api;
  session: Session;
  place: Place;
  /** Devices and ledger, asked again every few seconds; undefined until the first answer. */
  books: Books | undefined;
  /** Why the books could not be asked, "" if they could. */
  problem: string;
  /** The alarms, of which the shell shows the number. */
  alarms: AlarmList;
  /** Counts up when the node came back, so that everything must be asked again. */
  epoch: number;
  /** Asks anew who is logged in, after that may have changed. */
  refresh(): Promise<void>;
}

/** What the screens are for, in the order of the navigation. */
export const groups = ["Operate", "Analyse", "System"] as const;
export type Group = (typeof groups)[number];

/** One screen. */
export interface Screen {
  /** The first segment of its addresses, "" for the overview. */
  path: string;
  name: string;
  icon: IconName;
  /** Who sees it. */
  role: Role;
  /** Its place in the navigation: on a phone's bar, behind "More", or reached by links only. */
  place: "bar" | "more" | "link";
  /** Under which heading the navigation has it; undefined for those reached by links only. */
  group?: Group;
  /** The part that a node must have; the navigation leaves the screen out at others. */
  part?: Part;
  /** The key that leads to it after "g". */
  key?: string;
  /** Brings its code, which is not loaded before somebody goes there. */
  load(): Promise<ComponentType<ScreenProps>>;
}

/** All screens, in the order of the navigation. */
export const screens: readonly Screen[] = [
  {
    path: "",
    name: "Overview",
    icon: "overview",
    role: "viewer",
    place: "bar",
    group: "Operate",
    key: "o",
    load: async () => (await import("../overview/overview")).OverviewScreen,
  },
  {
    path: "site",
    name: "Site",
    icon: "site",
    role: "viewer",
    place: "bar",
    group: "Operate",
    key: "s",
    load: async () => (await import("../site/site")).SiteScreen,
  },
  {
    path: "control",
    name: "Control",
    icon: "control",
    role: "viewer",
    place: "bar",
    group: "Operate",
    key: "k",
    load: async () => (await import("../control/control")).ControlScreen,
  },
  {
    path: "alarms",
    name: "Alarms",
    icon: "alert",
    role: "viewer",
    place: "bar",
    group: "Operate",
    key: "w",
    load: async () => (await import("../alarm/alarms")).AlarmsScreen,
  },
  {
    path: "dashboards",
    name: "Dashboards",
    icon: "dashboards",
    role: "viewer",
    place: "more",
    group: "Operate",
    key: "v",
    load: async () => (await import("../dashboard/screen")).DashboardsScreen,
  },
  {
    path: "alerts",
    name: "Alerts",
    icon: "alert",
    role: "viewer",
    place: "link",
    load: async () => (await import("../alert/alerts")).AlertsScreen,
  },
  {
    path: "schedules",
    name: "Schedules",
    icon: "schedule",
    role: "viewer",
    place: "more",
    group: "Operate",
    key: "h",
    load: async () => (await import("../schedule/schedules")).SchedulesScreen,
  },
  {
    path: "timeline",
    name: "What happened",
    icon: "timeline",
    role: "operator",
    place: "more",
    group: "Operate",
    key: "y",
    load: async () => (await import("../timeline/timeline")).TimelineScreen,
  },
  {
    path: "handover",
    name: "Shift hand-over",
    icon: "handover",
    role: "operator",
    place: "more",
    group: "Operate",
    load: async () => (await import("../handover/handover")).HandoverScreen,
  },
  {
    path: "metering",
    name: "Meters",
    icon: "meter",
    role: "viewer",
    place: "more",
    group: "Operate",
    part: "metering",
    key: "m",
    load: async () => (await import("../metering/metering")).MeteringScreen,
  },
  {
    path: "explore",
    name: "Explore",
    icon: "explore",
    role: "viewer",
    place: "more",
    group: "Analyse",
    key: "e",
    load: async () => (await import("../explorer/explorer")).ExplorerScreen,
  },
  {
    path: "reports",
    name: "Weekly reports",
    icon: "report",
    role: "viewer",
    place: "more",
    group: "Analyse",
    load: async () => (await import("../report/reports")).ReportsScreen,
  },
  {
    path: "ledger",
    name: "Ledger",
    icon: "ledger",
    role: "viewer",
    place: "more",
    group: "Analyse",
    key: "l",
    load: async () => (await import("../ledger/ledger")).LedgerScreen,
  },
  {
    path: "documents",
    name: "Documents",
    icon: "documents",
    role: "viewer",
    place: "more",
    group: "Analyse",
    key: "d",
    load: async () => (await import("../document/documents")).DocumentsScreen,
  },
  {
    path: "agents",
    name: "Agents",
    icon: "agents",
    role: "viewer",
    place: "more",
    group: "Analyse",
    key: "a",
    load: async () => (await import("../agent/agents")).AgentsScreen,
  },
  {
    path: "lab",
    name: "Lab",
    icon: "lab",
    role: "viewer",
    place: "more",
    group: "Analyse",
    key: "x",
    load: async () => (await import("../lab/lab")).LabScreen,
  },
  {
    path: "regulation",
    name: "Regulation",
    icon: "regulation",
    role: "viewer",
    place: "more",
    group: "Analyse",
    load: async () => (await import("../regulation/regulation")).RegulationScreen,
  },
  {
    path: "system",
    name: "System",
    icon: "system",
    role: "viewer",
    place: "more",
    group: "System",
    key: "i",
    load: async () => (await import("../system/system")).SystemScreen,
  },
  {
    path: "devices",
    name: "Devices",
    icon: "plus",
    role: "viewer",
    place: "more",
    group: "System",
    key: "f",
    load: async () => (await import("../device/list")).DevicesScreen,
  },
  {
    path: "nodes",
    name: "Nodes",
    icon: "nodes",
    role: "viewer",
    place: "more",
    group: "System",
    key: "n",
    load: async () => (await import("../node/nodes")).NodesScreen,
  },
  {
    path: "mqtt",
    name: "MQTT",
    icon: "mqtt",
    role: "viewer",
    place: "more",
    group: "System",
    part: "mqtt",
    key: "q",
    load: async () => (await import("../mqtt/mqtt")).MqttScreen,
  },
  {
    path: "cluster",
    name: "Cluster",
    icon: "cluster",
    role: "viewer",
    place: "more",
    group: "System",
    part: "cluster",
    key: "r",
    load: async () => (await import("../cluster/cluster")).ClusterScreen,
  },
  {
    path: "destinations",
    name: "Destinations",
    icon: "destinations",
    role: "viewer",
    place: "more",
    group: "System",
    key: "t",
    load: async () => (await import("../destination/destinations")).DestinationsScreen,
  },
  {
    path: "bus",
    name: "Bus",
    icon: "bus",
    role: "engineer",
    place: "more",
    group: "System",
    key: "b",
    load: async () => (await import("../bus/bus")).BusScreen,
  },
  {
    path: "settings",
    name: "Settings",
    icon: "settings",
    role: "engineer",
    place: "more",
    group: "System",
    key: "c",
    load: async () => (await import("../settings/settings")).SettingsScreen,
  },
  {
    path: "audit",
    name: "Audit",
    icon: "audit",
    role: "engineer",
    place: "more",
    group: "System",
    key: "u",
    load: async () => (await import("../audit/audit")).AuditScreen,
  },
  {
    path: "people",
    name: "People",
    icon: "people",
    role: "viewer",
    place: "more",
    group: "System",
    key: "p",
    load: async () => (await import("../people/people")).PeopleScreen,
  },
  {
    path: "node",
    name: "Node",
    icon: "nodes",
    role: "viewer",
    place: "link",
    load: async () => (await import("../node/page")).NodeScreen,
  },
  {
    path: "device",
    name: "Device",
    icon: "site",
    role: "viewer",
    place: "link",
    load: async () => (await import("../device/device")).DeviceScreen,
  },
  {
    path: "point",
    name: "Point",
    icon: "control",
    role: "viewer",
    place: "link",
    load: async () => (await import("../control/point")).PointScreen,
  },
  {
    path: "welcome",
    name: "First steps",
    icon: "plus",
    role: "viewer",
    place: "link",
    load: async () => (await import("../welcome/welcome")).WelcomeScreen,
  },
];

/** The screen of an address; undefined if there is none of that name. */
export function screenAt(path: string): Screen | undefined {
  const first = path.split("/")[1] ?? "";
  return screens.find((s) => s.path === first);
}
