import type { Api, ColumnSeries, Kind, PlotAnswer } from "../api";
import { isWhole } from "../sources";
import { wordsOf } from "../use-poll";
import { cut, lineOf } from "./columns";
import { iso } from "./iso";
import {
  boundsOf,
  isFresh,
  type Run,
  type Tile,
  type TileCache,
  tilePixels,
  widthOf,
} from "./tiles";

/** Tiles of points that are wanted: those that are shown, or those that may be shown next. */
export interface Wanted extends Run {
  points: readonly string[];
  /** Whether it may wait until nothing else is under way. */
  later?: boolean;
  /** Whether nobody is sure yet that it will be shown. */
  hoped?: boolean;
}

/** One request under way. */
interface Asked extends Wanted {
  stop: AbortController;
}

const atOnce = 4;
/** A request's answer stays below so many samples, if all are there. */
const mostSamples = 400_000;
const perPixel = 4;
/** An address longer than this is refused by some proxies. */
const longestQuery = 7000;

/** What the loader needs of the node. */
export type PlotSource = Pick<Api, "now"> & {
  get<T>(
    resource: string,
    query: Record<string, string | number | readonly string[]>,
    signal?: AbortSignal,
  ): Promise<T>;
};

/**
 * Loader brings tiles into a cache, several points in one request, a few requests at once. New
 * requests cancel those that nobody waits for any more.
 */
export class Loader {
  /** Is called when tiles arrived, or when asking failed with the reason. */
  changed: (problem: string) => void = () => {};

  /** What answers said about points. */
  readonly facts = new Map<string, { unit: string; kind: Kind }>();

  private waiting: Wanted[] = [];
  private readonly underWay = new Set<Asked>();
  private stopped = false;

  constructor(
    private readonly source: PlotSource,
    private readonly cache: TileCache,
  ) {}

  /** Loads what is missing or old of what is wanted, in that order, and drops what was wanted before. */
  want(wanted: readonly Wanted[]): void {
    this.stopped = false;
    for (const asked of this.underWay) {
      if (!wanted.some((w) => overlaps(w, asked))) asked.stop.abort();
    }
    this.waiting = wanted.flatMap((w) => this.missing(w)).flatMap(split);
    this.next();
  }

  /**
   * Asks at once for what is wanted in a moment, before the page is drawn for it. What want does
   * not name later is cancelled, and so is what was hoped for before.
   */
  hope(wanted: Wanted): void {
    this.stopped = false;
    for (const asked of this.underWay) {
      if (asked.hoped && !overlaps(wanted, asked)) asked.stop.abort();
    }
    const hoped = this.missing(wanted).flatMap(split);
    this.waiting = [
      ...hoped.map((w) => ({ ...w, hoped: true })),
      ...this.waiting.filter((w) => !w.hoped),
    ];
    this.next();
  }

  /** Whether anything is on its way. */
  get busy(): boolean {
    return this.underWay.size + this.waiting.length > 0;
  }

  /** Cancels everything. */
  stop(): void {
    this.stopped = true;
    this.waiting = [];
    for (const asked of this.underWay) asked.stop.abort();
  }

  /** The runs of tiles to ask for, points that miss the same together. */
  private missing({ points, level, first, last, later = false }: Wanted): Wanted[] {
    const groups = new Map<string, Wanted>();
    for (const point of points) {
      const holes: number[] = [];
      for (let i = first; i <= last; i++) if (this.lacks(point, level, i)) holes.push(i);
      const from = holes[0];
      const to = holes.at(-1);
      if (from === undefined || to === undefined) continue;
      const key = `${from} ${to}`;
      const group = groups.get(key);
      const together = [...(group?.points ?? []), point];
      groups.set(key, { level, first: from, last: to, points: together, later });
    }
    return [...groups.values()];
  }

  private lacks(point: string, level: number, index: number): boolean {
    const now = this.source.now();
    if (index * widthOf(level) > now) return false; // nobody knows the future
    for (const a of this.underWay) {
      if (a.stop.signal.aborted || a.level !== level) continue;
      if (a.first <= index && index <= a.last && a.points.includes(point)) return false;
    }
    const found = this.cache.exactOr(point, level, index);
    if (!found) return true;
    const at = Math.floor(index / 2 ** (found.level - level));
    return !isFresh(found.tile, { level: found.level, first: at, last: at }, now);
  }

  private next(): void {
    while (!this.stopped && this.underWay.size < atOnce) {
      const wanted = this.waiting[0];
      if (!wanted || (wanted.later && this.underWay.size > 0)) return;
      this.waiting.shift();
      void this.ask({ ...wanted, stop: new AbortController() });
    }
  }

  private async ask(asked: Asked): Promise<void> {
    this.underWay.add(asked);
    try {
      this.keep(asked, await this.request(asked));
      this.underWay.delete(asked);
      this.changed("");
    } catch (err) {
      this.underWay.delete(asked);
      if (!asked.stop.signal.aborted) this.changed(wordsOf(err));
    }
    this.next();
  }

  private request(asked: Asked): Promise<PlotAnswer<ColumnSeries>> {
    const [from, to] = boundsOf(asked);
    const query = {
      point: asked.points,
      from: iso(from),
      to: iso(to),
      pixels: (asked.last - asked.first + 1) * tilePixels,
      format: "columns",
    };
    return this.source.get("plot", query, asked.stop.signal);
  }

  /** Cuts an answer into tiles. */
  private keep({ level, first, last }: Run, answer: PlotAnswer<ColumnSeries>): void {
    const exact = answer.step === 0;
    // Tiles to which a child node did not give its part are asked for again soon
    const asked = isWhole(answer.sources) ? this.source.now() : 0;
    for (const { point, unit, kind, columns } of answer.series) {
      this.facts.set(point, { unit, kind });
      const line = lineOf(columns);
      for (let index = first; index <= last; index++) {
        const [begin, end] = boundsOf({ level, first: index, last: index });
        const tile: Tile = { ...cut(line, begin, end), exact, asked };
        this.cache.put(point, level, index, tile);
      }
    }
  }
}

const overlaps = (a: Wanted, b: Wanted) =>
  a.level === b.level &&
  a.first <= b.last &&
  b.first <= a.last &&
  b.points.some((p) => a.points.includes(p));

/** Cuts what is wanted into requests that a node and a proxy accept. */
function split(wanted: Wanted): Wanted[] {
  const pixels = (wanted.last - wanted.first + 1) * tilePixels;
  const most = Math.max(1, Math.floor(mostSamples / (pixels * perPixel)));
  const found: Wanted[] = [];
  let points: string[] = [];
  let length = 0;
  for (const point of wanted.points) {
    const size = encodeURIComponent(point).length + 7;
    if (points.length === most || (points.length > 0 && length + size > longestQuery)) {
      found.push({ ...wanted, points });
      points = [];
      length = 0;
    }
    points.push(point);
    length += size;
  }
  return points.length > 0 ? [...found, { ...wanted, points }] : found;
}
