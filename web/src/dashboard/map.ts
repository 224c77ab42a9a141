// Where sites stand on a map: longitudes and latitudes on a plane, with lines of a graticule.

import type { DashboardSite } from "../generated/api";

/** The part of the world that a map shows, in degrees. */
export interface Extent {
  west: number;
  east: number;
  south: number;
  north: number;
}

const least = 0.02;

/** What holds all sites with a margin; the world if there is none. */
export function extentOf(sites: readonly DashboardSite[]): Extent {
  if (sites.length === 0) return { west: -180, east: 180, south: -90, north: 90 };
  const lon = sites.map((s) => s.longitude);
  const lat = sites.map((s) => s.latitude);
  const grown = (low: number, high: number): [number, number] => {
    const margin = Math.max(least, (high - low) * 0.2);
    return [low - margin, high + margin];
  };
  const [west, east] = grown(Math.min(...lon), Math.max(...lon));
  const [south, north] = grown(Math.min(...lat), Math.max(...lat));
  return { west, east, south, north };
}

/** An extent of the shape of a box: degrees of longitude are narrower the further from the equator. */
export function fitted(e: Extent, width: number, height: number): Extent {
  const middle = (e.south + e.north) / 2;
  const squeeze = Math.max(0.2, Math.cos((middle * Math.PI) / 180));
  const wide = (e.east - e.west) * squeeze;
  const high = e.north - e.south;
  if (wide / high > width / height) {
    const more = ((wide * height) / width - high) / 2;
    return { ...e, south: e.south - more, north: e.north + more };
  }
  const more = ((high * width) / height - wide) / squeeze / 2;
  return { ...e, west: e.west - more, east: e.east + more };
}

/** Where a place is, as shares of the width from the left and of the height from the top. */
export const positionOf = (e: Extent, site: Pick<DashboardSite, "latitude" | "longitude">) => ({
  x: (site.longitude - e.west) / (e.east - e.west),
  y: (e.north - site.latitude) / (e.north - e.south),
});

/** The degrees at which lines are drawn: 3 to 8 of them, at round numbers. */
export function lines(low: number, high: number): number[] {
  const raw = (high - low) / 5;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = power * ([1, 2, 5].find((m) => m * power >= raw) ?? 10);
  const found: number[] = [];
  for (let n = Math.ceil(low / step); n * step <= high; n++) found.push(n * step);
  return found;
}

/** Degrees in words: "52.5° N". */
export function degreesWords(n: number, positive: string, negative: string): string {
  const shown = Math.abs(n)
    .toFixed(4)
    .replace(/\.?0+$/, "");
  if (Number(shown) === 0) return "0°";
  return `${shown}° ${n < 0 ? negative : positive}`;
}
