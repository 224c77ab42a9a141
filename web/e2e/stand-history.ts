// What the stand-in answers about the completeness of the history.

import { isUnder } from "../src/path";
import type { HeatMap } from "../src/site/coverage";
import type { Site } from "./sites";
import type { Handlers } from "./stand";

/** Holes at fixed shares of the time: devices with trouble lack their end, one in three a night. */
export const completeness = (site: Site): Handlers => ({
  "GET completeness": ({ query }): HeatMap => {
    const pattern = query.get("pattern") ?? "**";
    const branch = pattern.replace(/\/?\*\*$/, "");
    const from = Date.parse(query.get("from") ?? "");
    const to = Date.parse(query.get("to") ?? "");
    const steps = Number(query.get("steps") ?? 48);
    const step = (to - from) / steps / 1000;
    const rows = site
      .filter((u) => isUnder(u.path, branch))
      .map((u, i) => {
        const coverage = Array.from({ length: steps }, (_, cell) => shareOf(i, cell / steps, u));
        const each = step * u.points.length;
        const asked = coverage.filter((c) => c !== null);
        return {
          path: u.path,
          points: u.points.length,
          expected: Math.round(asked.length * each),
          present: Math.round(asked.reduce((sum, c) => sum + c, 0) * each),
          coverage,
        };
      });
    const limit = Number(query.get("limit") ?? 200);
    const after = query.get("after") ?? "";
    const page = rows.sort((a, b) => (a.path < b.path ? -1 : 1)).filter((r) => r.path > after);
    const next = page.length > limit ? (page[limit - 1]?.path ?? "") : "";
    const times = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    return { ...times, step, rows: page.slice(0, limit), next };
  },
});

function shareOf(device: number, at: number, unit: Site[number]): number | null {
  if (unit.error && at > 0.8) return 0;
  if (device % 5 === 4 && at < 0.2) return null;
  if (device % 3 === 0 && at > 0.4 && at < 0.46) return 0.3 + at;
  if (device % 4 === 1 && at > 0.6 && at < 0.65) return 0.98;
  return 1;
}
