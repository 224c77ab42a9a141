import type { Sample, Scan, Value } from "./api";

/** The newest sample of a point. Each one is a new object, so that "===" tells a change. */
export interface Live {
  time: number;
  value: Value;
  quality: string;
}

/** A value that a point had. */
export interface Known {
  time: number;
  value: Value;
}

/** Fewest milliseconds between two redraws: values faster than the eye cost nothing. */
const calm = 200;

/**
 * Live holds the newest sample of every point and tells its listeners at most five times a
 * second, in an animation frame, that something changed. A hidden page is not told at all.
 */
export class LiveValues {
  /** The last values of points whose newest sample has none. */
  private readonly known = new Map<string, Known>();

  /** The node's time when it was last asked for all points, 0 before. */
  polledAt = 0;

  private readonly newest = new Map<string, Live>();
  private readonly listeners = new Set<() => void>();
  private frame = 0;
  private told = 0;

  get(path: string): Live | undefined {
    return this.newest.get(path);
  }

  /** The last value of a point whose newest sample has none, because its device does not answer or the like; undefined if it is not known, or not needed. */
  lastKnown(path: string): Known | undefined {
    const now = this.newest.get(path);
    return now && now.value === null && now.quality.startsWith("bad")
      ? this.known.get(path)
      : undefined;
  }

  /** Whether a point has no value now and none is known from before. */
  lacksValue(path: string): boolean {
    const now = this.newest.get(path);
    return now?.value === null && now.quality.startsWith("bad") && !this.known.has(path);
  }

  /** Takes over what a point had before its newest sample. */
  applyKnown(path: string, known: Known): void {
    const old = this.known.get(path);
    if (!old || old.time < known.time) this.known.set(path, known);
    this.tellSoon();
  }

  /** Takes over one pass over a device, of the points that are wanted. */
  applyScan(scan: Scan, wants: (path: string) => boolean = () => true): void {
    const time = Date.parse(scan.time);
    for (const name in scan.points) {
      const path = scan.device === "" ? name : `${scan.device}/${name}`;
      if (!wants(path)) continue;
      const quality = qualityOf(scan, name);
      this.put(path, { time, value: scan.points[name] ?? null, quality });
    }
    this.tellSoon();
  }

  /** Takes over what the node knew at a time; a sample that is not newer changes nothing. */
  applyLatest(samples: readonly Sample[], at: number): void {
    this.polledAt = at;
    for (const s of samples) {
      const time = Date.parse(s.time);
      const old = this.newest.get(s.point);
      if (time > 0 && !(old && old.time >= time)) {
        this.put(s.point, { time, value: s.value, quality: s.quality });
      }
    }
    this.tellSoon();
  }

  /** Calls listener after changes until the returned function is called. */
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private put(path: string, live: Live): void {
    const old = this.newest.get(path);
    if (old && old.time > live.time) return;
    this.newest.set(path, live);
    if (live.value !== null) this.known.delete(path);
    else if (old && old.value !== null) this.known.set(path, { time: old.time, value: old.value });
  }

  private tellSoon(): void {
    if (this.frame === 0) this.frame = requestAnimationFrame(this.tell);
  }

  private readonly tell = (at: number): void => {
    this.frame = 0;
    if (at - this.told < calm) {
      this.tellSoon();
      return;
    }
    this.told = at;
    for (const listener of this.listeners) listener();
  };
}

/** A name such as "toString" must not find what every object has. */
function qualityOf({ quality }: Scan, name: string): string {
  return quality && Object.hasOwn(quality, name) ? (quality[name] ?? "good") : "good";
}
