import { type Api, Problem } from "../api";
import type { DevicePart } from "../generated/api";
import { wordsOf } from "../use-poll";

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
  /** Where the device keeps it, the words that it sent, and its value in each order of the bytes, if the driver shows them. */
  at?: string;
  raw?: number[];
  orders?: { order: string; value: number | boolean | string | null; used: boolean }[];
  /** What a list of points says to have it, if the trial found it. */
  entry?: Record<string, string>;
}

/** A device that a search found. */
export interface Neighbour {
  /** "" if it has none. */
  name: string;
  /** What and where it is. */
  detail: string;
  /** What to know before it is added; "" for nothing. */
  note: string;
  /** What its configuration needs. */
  config: Record<string, unknown>;
  /** Columns of a table, such as vendor; an older node does not tell them. */
  facts?: Record<string, string>;
  /** Its path in the configuration, "" if it is new; an older node does not tell it. */
  device?: string;
  /** What it consists of, such as the models of SunSpec; an older node does not tell it. */
  parts?: DevicePart[];
}

/** What a search found; an older node does not tell what is gone. */
export interface Search {
  devices: Neighbour[] | null;
  gone?: string[];
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
  /** What of the list of points was left out, and why; an older node does not tell. */
  notes?: string[] | null;
}

const rowOf = (text: string) => Number(/^row (\d+)[,:]/.exec(text)?.[1] ?? 0);

/** What is wrong with a device, a sentence each; those of a list by their rows. */
export function problemsOf(err: unknown): string[] {
  if (!(err instanceof Problem) || err.problems.length === 0) return [wordsOf(err)];
  const inRow = (p: { path: string; detail: string }) =>
    rowOf(p.detail) > 0 ? withColumn(p) : [p.path, p.detail].filter((s) => s !== "").join(": ");
  return err.problems.map(inRow).sort((a, b) => rowOf(a) - rowOf(b));
}

/** "row 3: (unit) …" with the column that the path ends with, such as registry[0].type. */
function withColumn({ path, detail }: { path: string; detail: string }): string {
  const [, column = ""] = /\bregistry\[\d+\]\.([a-z_]+)$/.exec(path) ?? [];
  return column ? detail.replace(/^(row \d+):/, `$1, column ${column}:`) : detail;
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

/** Finds the devices that a driver can reach. */
export const searchDevices = (api: Api, driver: string, config: NewDevice["config"]) =>
  api.send<Search>("POST", `drivers/${encodeURIComponent(driver)}/search`, { config });

/** Opens the device, reads it once and closes it; nothing is kept. */
export const tryDevice = (api: Api, driver: string, config: NewDevice["config"]) =>
  api.send<Trial>("POST", `drivers/${encodeURIComponent(driver)}/try`, { config });
