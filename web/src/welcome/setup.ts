import type { Api } from "../api";

/** Whether the node waits for its first administrator. */
export interface Setup {
  needed: boolean;
  /** The node's name. */
  node: string;
}

/** One point of a device that was tried. */
export interface TriedPoint {
  /** Within the device. */
  name: string;
  unit: string;
  value: number | boolean | string | null;
  quality: string;
}

/** What a device answered when it was tried. */
export interface Trial {
  /** "" if it answered, else the kind of its fault. */
  kind: string;
  /** Why it did not answer. */
  detail: string;
  took_ms: number;
  /** Points of the device, of which the first are listed. */
  total: number;
  points: TriedPoint[] | null;
}

/** A device to add. */
export interface NewDevice {
  path: string;
  driver: string;
  interval: string;
  config: Record<string, unknown>;
}

/** The first steps' part of the API. */
export const askSetup = (api: Api) => api.get<Setup>("setup");
export const admit = (api: Api, administrator: string, password: string) =>
  api.send("POST", "setup", { administrator, password });
export const addDevice = (api: Api, device: NewDevice) => api.send("POST", "devices", device);

/** Opens the device, reads it once and closes it; nothing is kept. */
export const tryDevice = (api: Api, driver: string, config: NewDevice["config"]) =>
  api.send<Trial>("POST", `drivers/${encodeURIComponent(driver)}/try`, { config });
