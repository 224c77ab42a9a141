// A dashboard while somebody changes it.

import type { Dashboard, DashboardTile } from "../generated/api";
import { freeSpot } from "./grid";

type Kind = DashboardTile["kind"];

const sizes: Record<Kind, [number, number]> = {
  value: [3, 2],
  trend: [6, 5],
  gauge: [3, 3],
  bar: [4, 4],
  state: [4, 3],
  table: [6, 5],
  alarms: [4, 5],
  text: [4, 2],
  picture: [8, 8],
  map: [6, 6],
};

/** A new tile of a kind, in the first room for it. */
export function newTile(tiles: readonly DashboardTile[], kind: Kind): DashboardTile {
  const [w, h] = sizes[kind];
  const box = freeSpot(tiles, w, h);
  return kind === "trend" ? { kind, ...box, range: "1d" } : { kind, ...box };
}

/** What a tile still needs before it can be kept; "" for nothing. */
export function lackOf(tile: DashboardTile): string {
  const points = tile.points?.length ?? 0;
  switch (tile.kind) {
    case "value":
    case "gauge":
      return points === 1 ? "" : "Choose one point";
    case "trend":
      return points >= 1 && points <= 8 ? "" : "Choose 1 to 8 points";
    case "bar":
    case "state":
    case "table":
      return points >= 1 ? "" : "Choose a point";
    case "text":
      return tile.text?.trim() ? "" : "Write a text";
    case "picture":
      return tile.drawing ? "" : "Choose a drawing";
    case "map":
      return tile.sites?.length ? "" : "Write a site";
    default:
      return "";
  }
}

/** The first lack of a dashboard, with its tile. */
export function lackIn({ tiles }: Dashboard): string {
  const i = tiles.findIndex((t) => lackOf(t) !== "");
  const tile = tiles[i];
  return tile ? `Tile ${i + 1}: ${lackOf(tile)}` : "";
}

/** A name that the node accepts, made of a title. */
export function nameFor(title: string): string {
  const plain = title
    .toLowerCase()
    .normalize("NFKD")
    .replace(/[\u0300-\u036f]/g, "")
    .replace(/[^a-z0-9._-]+/g, "-")
    .replace(/^[^a-z0-9]+|-+$/g, "");
  return plain.slice(0, 64) || "dashboard";
}

/** Reads sites, one in a line: name, latitude, longitude, and perhaps a branch. */
export function readSites(text: string): { sites: DashboardTile["sites"]; problem: string } {
  const sites: NonNullable<DashboardTile["sites"]> = [];
  for (const [i, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const [name = "", lat = "", lon = "", ...branch] = line.split(",").map((s) => s.trim());
    const latitude = Number(lat);
    const longitude = Number(lon);
    const isPlace =
      lat !== "" && lon !== "" && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180;
    if (!name || !isPlace) {
      return {
        sites,
        problem: `Line ${i + 1}: write name, latitude, longitude, such as Berlin, 52.52, 13.4`,
      };
    }
    sites.push({
      name,
      latitude,
      longitude,
      ...(branch.length ? { branch: branch.join(",") } : {}),
    });
  }
  return { sites, problem: "" };
}

/** The inverse of readSites. */
export const sitesText = (sites: DashboardTile["sites"]) =>
  (sites ?? [])
    .map((s) => [s.name, s.latitude, s.longitude, ...(s.branch ? [s.branch] : [])].join(", "))
    .join("\n");
