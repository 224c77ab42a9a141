import type { Api } from "../api";
import type {
  Dashboard,
  Dashboards,
  DashboardVersions,
  Drawing,
  Drawings,
  KeptDashboard,
  MadeDashboard,
} from "../generated/api";

/** Which dashboard: its name, and whether it is for all or for its owner. */
export interface Which {
  name: string;
  sharing: "all" | "owner";
}

const queryOf = ({ name, sharing }: Which) => ({ name, sharing });

export const listDashboards = (api: Api) => api.get<Dashboards>("dashboards");

export const getDashboard = (api: Api, which: Which) =>
  api.get<KeptDashboard>("dashboards/one", queryOf(which));

/** Makes a dashboard for a device, "" for the home page; nothing is written. */
export const templateFor = (api: Api, device: string) =>
  api.get<MadeDashboard>("dashboards/template", device ? { device } : {});

/** Writes a dashboard that was made from a version, 0 for a new one. */
export const putDashboard = (api: Api, dashboard: Dashboard, expect: number) =>
  api.send<KeptDashboard>("PUT", "dashboards", { ...dashboard, expect });

export const deleteDashboard = (api: Api, which: Which) =>
  api.send("DELETE", `dashboards?${new URLSearchParams(queryOf(which))}`);

export const historyOf = (api: Api, which: Which) =>
  api.get<DashboardVersions>("dashboards/history", queryOf(which));

export const restoreDashboard = (api: Api, which: Which, version: number) =>
  api.send<KeptDashboard>("POST", `dashboards/restore?${new URLSearchParams(queryOf(which))}`, {
    version,
  });

export const listDrawings = (api: Api) => api.get<Drawings>("drawings");

export const getDrawing = (api: Api, name: string) =>
  api.get<Drawing>(`drawings/${encodeURIComponent(name)}`);

export const putDrawing = (api: Api, name: string, svg: string) =>
  api.send<Drawing>("PUT", "drawings", { name, svg });

/** The address of a dashboard. */
export const boardAddress = ({ name, sharing }: Which, more = "") =>
  `/dashboards/${encodeURIComponent(name)}${sharing === "owner" ? "?own" : "?all"}${more}`;

/** The address of the dashboard that a device has by itself. */
export const deviceBoardAddress = (device: string) =>
  `/dashboards?${new URLSearchParams({ device })}`;
