// How a run goes, as curves.

import { append, type Curve, emptyCurve } from "../series";
import type { Progress } from "./calls";

/** A chart of the course: what it shows and in which curves. */
export interface Chart {
  title: string;
  curves: Curve[];
}

const mostSamples = 3600;

/** Collects the progress of a run into curves of clients, throughput, latency, processor and memory. */
export class Course {
  readonly clients = curve("clients", "");
  readonly rate = curve("throughput", "1/s");
  readonly p50 = curve("median", "ms", 0);
  readonly p99 = curve("99th percentile", "ms", 1);
  readonly cpu = curve("processor", "cores", 2);
  readonly memory = curve("memory", "MB", 3);
  /** The latest progress. */
  now: Progress | undefined;

  /** The charts that have something to show. */
  charts(): Chart[] {
    const all = [
      { title: "Clients", curves: [this.clients] },
      { title: "Operations a second", curves: [this.rate] },
      { title: "Latency", curves: [this.p50, this.p99] },
      { title: "Processor and memory", curves: [this.cpu, this.memory] },
    ];
    return all.filter((c) => c.curves.some((curve) => curve.times.length > 0));
  }

  add(progress: Progress): void {
    this.now = progress;
    const time = Date.parse(progress.time);
    put(this.clients, time, progress.clients);
    put(this.rate, time, progress.rate);
    put(this.p50, time, inMs(progress.p50));
    put(this.p99, time, inMs(progress.p99));
    put(this.cpu, time, progress.cpu);
    put(this.memory, time, progress.memory === undefined ? undefined : progress.memory / 1e6);
  }

  /** The time from the first sample to the last, at least a few seconds. */
  span(): [number, number] {
    const times = this.charts().flatMap((c) => c.curves.map((curve) => curve.times));
    const first = Math.min(...times.map((t) => t[0] ?? Number.POSITIVE_INFINITY));
    const last = Math.max(...times.map((t) => t.at(-1) ?? 0));
    return [first, Math.max(last, first + 5000)];
  }
}

const inMs = (seconds: number | undefined) => (seconds === undefined ? undefined : seconds * 1000);

function put(curve: Curve, time: number, value: number | undefined): void {
  if (value === undefined || !append(curve, time, value)) return;
  if (curve.times.length > mostSamples) {
    curve.times.splice(0, mostSamples / 10);
    curve.values.splice(0, mostSamples / 10);
  }
}

const curve = (point: string, unit: string, ink = 0): Curve => ({
  ...emptyCurve(point, unit),
  ink,
});
