// Devices that a search found, many at once: which are new, what they are called, and what they have.

import { type Api, Problem } from "../api";
import type { ConfigApplied, Survey, Surveyed } from "../generated/api";
import { wordsOf } from "../use-poll";
import { pathOf } from "./draft";
import type { Neighbour } from "./setup";

/** A column of the table of devices, "" if the device or an older node does not tell it. */
export const factOf = (d: Neighbour, name: string) => d.facts?.[name] ?? "";

/** The path of a device in the configuration, "" if it is new. */
export const pathIn = (d: Neighbour) => d.device ?? "";

/** How a device that was found compares with the configuration. */
export function stateOf(d: Neighbour, has: Surveyed | undefined): string {
  if (pathIn(d) === "") return "new";
  if (!has) return `added as ${pathIn(d)}`;
  if (has.kind !== "") return `added as ${pathIn(d)}; it could not be asked: ${has.detail}`;
  const parts = [
    differ("it has and the configuration lacks", has.added),
    differ("the configuration has and it lacks", has.gone),
  ].filter((s) => s !== "");
  return `added as ${pathIn(d)}; ${parts.length > 0 ? `changed: ${parts.join("; ")}` : "unchanged"}`;
}

const mostNamed = 5;

function differ(which: string, names: readonly string[]): string {
  if (names.length === 0) return "";
  const more = names.length - mostNamed;
  return `${which} ${names.slice(0, mostNamed).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}

/** The path of each device, none of them taken: two of one name get their instances, and then their addresses, behind it. */
export function pathsFor(
  site: string,
  devices: readonly Neighbour[],
  taken: readonly string[],
): string[] {
  const used = new Set(taken);
  return devices.map((d) => {
    const instance = String(d.config.device ?? "");
    const base = d.name || `device_${instance}`;
    const near = factOf(d, "address").replace(/[^A-Za-z0-9.-]+/g, "_");
    const names = [base, `${base}_${instance}`, `${base}_${instance}_${near}`];
    const path = names.map((name) => pathOf(site, name)).find((p) => !used.has(p));
    const free = path ?? pathOf(site, names[2] ?? base);
    used.add(free);
    return free;
  });
}

/** Where a device is asked for its points: at the address that the search found, so that no further broadcast looks for it. */
function placeOf(d: Neighbour): Record<string, unknown> {
  const address = factOf(d, "address");
  return address ? { ...d.config, address } : d.config;
}

/** How many devices one request asks for their points. */
export const batch = 16;

/** Asks devices for their points, some at a time, until all were asked or it is told to stop; what was not asked is undefined. */
export async function survey(
  api: Api,
  config: Record<string, unknown>,
  devices: readonly Neighbour[],
  onProgress: (asked: number) => boolean,
): Promise<(Surveyed | undefined)[]> {
  const out: (Surveyed | undefined)[] = [];
  for (let at = 0; at < devices.length && onProgress(at); at += batch) {
    out.push(...(await surveySome(api, config, devices.slice(at, at + batch))));
  }
  return devices.map((_, i) => out[i]);
}

/** A refusal of the node is the answer for each of the devices; a node that cannot be reached ends it. */
async function surveySome(
  api: Api,
  config: Record<string, unknown>,
  some: readonly Neighbour[],
): Promise<Surveyed[]> {
  const devices = some.map((d) => ({ config: placeOf(d), device: pathIn(d) }));
  try {
    return (await api.send<Survey>("POST", "drivers/bacnet/survey", { config, devices })).devices;
  } catch (err) {
    if (!(err instanceof Problem) || err.status === 401) throw err;
    const detail = wordsOf(err);
    const none = { points: 0, guesses: 0, registry: "", added: [], gone: [] };
    return some.map(() => ({ ...none, kind: err.kind, detail }));
  }
}

/** What came of adding devices. */
export interface Added {
  paths: readonly string[];
  points: number;
  /** Points with a guess of what they are. */
  guesses: number;
  skipped: readonly { device: Neighbour; why: string }[];
}

/** Adds those of the devices that answered, with their points, in one change of the configuration. */
export async function addSeveral(
  api: Api,
  to: { site: string; interval: string; config: Record<string, unknown> },
  devices: readonly Neighbour[],
  has: readonly (Surveyed | undefined)[],
): Promise<Added> {
  const fit = devices.filter((_, i) => has[i]?.kind === "");
  const lists = has.flatMap((h) => (h?.kind === "" ? [h] : []));
  const skipped = devices.flatMap((device, i) =>
    has[i]?.kind === "" ? [] : [{ device, why: has[i]?.detail || "it was not asked" }],
  );
  const points = lists.reduce((sum, h) => sum + h.points, 0);
  const guesses = lists.reduce((sum, h) => sum + h.guesses, 0);
  if (fit.length === 0) return { paths: [], points, guesses, skipped };
  const taken = (await api.devices()).map((d) => d.path);
  const paths = pathsFor(to.site, fit, taken);
  await api.send<ConfigApplied>("POST", "drivers/bacnet/devices", {
    interval: to.interval,
    config: to.config,
    devices: fit.map((d, i) => ({
      path: paths[i],
      config: { ...d.config, registry: lists[i]?.registry },
    })),
  });
  return { paths, points, guesses, skipped };
}
