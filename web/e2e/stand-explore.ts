// What the stand-in node answers about the history of single points.

import type { Kind, PlotSample, Value } from "../src/api";
import { columnsOf } from "./columns";
import type { Site, Source } from "./sites";
import type { Handlers } from "./stand";

/** Seconds between the samples of every point. */
const interval = 1000;
/** In each hour nothing was recorded for five minutes. */
const hour = 3_600_000;
const pause = [18 * 60_000, 23 * 60_000] as const;

const isPaused = (ms: number) => {
  const at = ms % hour;
  return at >= pause[0] && at < pause[1];
};

interface Asked {
  path: string;
  source: Source;
  from: number;
  to: number;
}

/** The points of a query with its range, which ends now at the latest. */
function asked(site: Site, query: URLSearchParams): Asked[] {
  const from = Date.parse(query.get("from") ?? "");
  const to = Math.min(Date.now(), Date.parse(query.get("to") ?? ""));
  return query.getAll("point").flatMap((path) => {
    for (const unit of site) {
      const source = unit.points.find((p) => `${unit.path}/${p.name}` === path);
      if (source) return [{ path, source, from, to }];
    }
    return [];
  });
}

const samplesOf = ({ source, from, to }: Asked, step: number): PlotSample[] => {
  const samples: PlotSample[] = [];
  for (let t = Math.ceil(from / step) * step; t < to; t += step) {
    if (isPaused(t)) continue;
    const quality = source.quality ?? "good";
    const value = source.at(t);
    const plotted: Value = typeof value === "boolean" ? Number(value) : value;
    samples.push(quality === "good" ? [t, plotted] : [t, null, quality]);
  }
  return samples;
};

/** How much there is: all but the pauses. */
function counted(a: Asked) {
  const expected = Math.max(0, Math.round((a.to - a.from) / interval));
  const present = Math.round(expected * (1 - (pause[1] - pause[0]) / hour));
  const { unit, kind } = a.source;
  return { point: a.path, unit, kind: kind as Kind, expected, present, extra: 0, bad: 0 };
}

/** The answer to /plot. */
function plotAnswer(site: Site, query: URLSearchParams): unknown {
  const pixels = Number(query.get("pixels"));
  const [from, to] = [Date.parse(query.get("from") ?? ""), Date.parse(query.get("to") ?? "")];
  const few = (to - from) / interval <= pixels * 4;
  const step = few ? interval : Math.ceil((to - from) / pixels / interval) * interval;
  const series = asked(site, query).map((a) => {
    const samples = samplesOf(a, step);
    return query.get("format") === "columns"
      ? { ...counted(a), columns: columnsOf(samples) }
      : { ...counted(a), samples };
  });
  return { series, completeness: 1, from, to, step: few ? 0 : step / 1000 };
}

/** The answer to /range. */
function rangeAnswer(site: Site, query: URLSearchParams): unknown {
  const limit = Number(query.get("limit") ?? 1e6);
  const series = asked(site, query).map((a) => {
    const samples = samplesOf(a, interval);
    const truncated = samples.length > limit;
    return {
      ...counted(a),
      samples: samples.slice(-limit),
      ...(truncated ? { truncated } : {}),
    };
  });
  return { series, completeness: 1, from: query.get("from"), to: query.get("to") };
}

const lengths: Record<string, number> = { "15m": hour / 4, "1h": hour, "1d": 24 * hour };

/** The answer to /aggregate, by steps of UTC. */
function aggregateAnswer(site: Site, query: URLSearchParams): unknown {
  const step = query.get("step") ?? "";
  const whole = /^(\d+)ms$/.exec(step);
  const length = whole ? Number(whole[1]) : (lengths[step] ?? 24 * hour);
  const series = asked(site, query).map((a) => {
    const buckets: unknown[] = [];
    for (
      let start = whole ? a.from : Math.floor(a.from / length) * length;
      start < a.to;
      start += length
    ) {
      const part = { ...a, from: start, to: Math.min(a.to, start + length) };
      buckets.push(bucketOf(part, start, length, query.get("functions") ?? ""));
    }
    return { ...counted(a), buckets };
  });
  return { series, completeness: 1, from: query.get("from"), to: query.get("to"), step: length };
}

function bucketOf(a: Asked, start: number, length: number, functions: string): unknown {
  const step = Math.min(60_000, length / 60);
  const values = samplesOf(a, step).flatMap(([, v]) => (typeof v === "number" ? [v] : []));
  const sum = values.reduce((x, y) => x + y, 0);
  const sorted = [...values].sort((x, y) => x - y);
  const figures: Record<string, number | undefined> = {
    mean: sum / values.length,
    min: sorted[0],
    max: sorted.at(-1),
    median: sorted[sorted.length >> 1],
    sum,
    stddev: 1,
    timeweighted: sum / values.length,
    p5: sorted[Math.floor(sorted.length * 0.05)],
    p95: sorted[Math.floor(sorted.length * 0.95)],
  };
  const asked = functions.split(",").filter((f) => f !== "");
  const of = (f: string) => (values.length === 0 ? null : (figures[f] ?? null));
  return {
    start: new Date(start).toISOString(),
    end: new Date(start + length).toISOString(),
    count: values.length,
    bad: 0,
    values: Object.fromEntries(asked.map((f) => [f, of(f)])),
  };
}

/** The history of single points of a site. */
export const history = (site: Site): Handlers => ({
  "GET plot": ({ query }) => plotAnswer(site, query),
  "GET range": ({ query }) => rangeAnswer(site, query),
  "GET aggregate": ({ query }) => aggregateAnswer(site, query),
});
