// The history in tiles: pieces of fixed stretches of time at fixed resolutions, so that what was
// seen once is drawn again at once, whichever way the window moves.

import type { Span } from "../span";

/** Pixels that a tile is asked for. */
export const tilePixels = 256;
const highestLevel = 44;

/** A piece of the curve of one point. Samples without a usable value are null. */
export interface Tile {
  times: readonly number[];
  values: readonly (number | null)[];
  /** From when to when samples were uncertain; a tile of steps does not know. */
  uncertain: readonly Span[];
  /** Whether these are all samples, so that a closer look has nothing to add. */
  exact: boolean;
  /** The node's time when it answered. */
  asked: number;
}

/** The level whose steps of 2^level milliseconds are the widest that a window's pixels show in full. */
export function levelFor(spanMs: number, pixels: number): number {
  const level = Math.floor(Math.log2(spanMs / Math.max(1, pixels)));
  return Math.min(highestLevel, Math.max(0, level));
}

/** Milliseconds that a tile of a level covers. */
export const widthOf = (level: number) => tilePixels * 2 ** level;

/** The first and last tile of a level that a window needs. */
export const tilesOver = (level: number, from: number, to: number): [number, number] => [
  Math.floor(from / widthOf(level)),
  Math.max(Math.floor(from / widthOf(level)), Math.ceil(to / widthOf(level)) - 1),
];

/** A stretch of tiles of one level. */
export interface Run {
  level: number;
  first: number;
  last: number;
}

/** Begin and end of a run in milliseconds. */
export const boundsOf = ({ level, first, last }: Run): [number, number] => [
  first * widthOf(level),
  (last + 1) * widthOf(level),
];

const secondsFresh = 600;

/**
 * Whether a tile need not be asked again: the past changes rarely, and what reaches into the
 * present is as old as a pixel is wide, or as five seconds.
 */
export function isFresh(tile: Tile, run: Run, now: number): boolean {
  const [, end] = boundsOf(run);
  const age = now - tile.asked;
  if (end < tile.asked - 60_000) return age < secondsFresh * 1000;
  return age < Math.min(60_000, Math.max(5000, 2 ** run.level));
}

/** What the cache knows about a stretch: the best tiles for it, and whether better ones are wanted. */
export interface Found {
  tiles: readonly Piece[];
  /** Whether all of it is there at the resolution that was asked for. */
  complete: boolean;
}

/** A tile with the stretch for which it stands, which may be a part of its own. */
export interface Piece {
  tile: Tile;
  from: number;
  to: number;
  /** Milliseconds between what it can tell apart. */
  step: number;
}

/** Keeps tiles up to a number of samples; those not used for the longest go first. */
export class TileCache {
  private readonly kept = new Map<string, Tile>();
  private samples = 0;

  constructor(private readonly mostSamples = 3_000_000) {}

  get size(): number {
    return this.samples;
  }

  get(point: string, level: number, index: number): Tile | undefined {
    const key = keyOf(point, level, index);
    const tile = this.kept.get(key);
    if (tile) {
      this.kept.delete(key);
      this.kept.set(key, tile);
    }
    return tile;
  }

  put(point: string, level: number, index: number, tile: Tile): void {
    const key = keyOf(point, level, index);
    this.drop(key);
    this.kept.set(key, tile);
    this.samples += weightOf(tile);
    for (const oldest of this.kept.keys()) {
      if (this.samples <= this.mostSamples || oldest === key) break;
      this.drop(oldest);
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.kept.clear();
    this.samples = 0;
  }

  /** The tile of a place, or the one of a lower resolution that holds all samples there. */
  exactOr(point: string, level: number, index: number): { tile: Tile; level: number } | undefined {
    const own = this.get(point, level, index);
    if (own) return { tile: own, level };
    for (let up = 1; up <= 12 && level + up <= highestLevel; up++) {
      const tile = this.get(point, level + up, Math.floor(index / 2 ** up));
      if (tile?.exact) return { tile, level: level + up };
    }
    return undefined;
  }

  /** The best that is known of a point over a run, in time order. */
  find(point: string, run: Run): Found {
    const tiles: Piece[] = [];
    let complete = true;
    for (let index = run.first; index <= run.last; index++) {
      const [from, to] = boundsOf({ ...run, first: index, last: index });
      const found = this.exactOr(point, run.level, index);
      if (found) tiles.push({ tile: found.tile, from, to, step: 2 ** found.level });
      else {
        complete = false;
        for (const piece of this.instead(point, run.level, index)) tiles.push(piece);
      }
    }
    return { tiles, complete };
  }

  /** What stands in for a tile that is not there: a coarser one, or finer ones as far as they are known. */
  private instead(point: string, level: number, index: number): Piece[] {
    const [from, to] = boundsOf({ level, first: index, last: index });
    for (let up = 1; up <= 8; up++) {
      const tile = this.get(point, level + up, Math.floor(index / 2 ** up));
      if (tile) return [{ tile, from, to, step: 2 ** (level + up) }];
    }
    for (let down = 1; down <= 3 && level - down >= 0; down++) {
      const found: Piece[] = [];
      for (let i = index * 2 ** down; i < (index + 1) * 2 ** down; i++) {
        const tile = this.get(point, level - down, i);
        if (!tile) continue;
        const [a, b] = boundsOf({ level: level - down, first: i, last: i });
        found.push({ tile, from: a, to: b, step: 2 ** level });
      }
      if (found.length > 0) return found;
    }
    return [];
  }

  private drop(key: string): void {
    const tile = this.kept.get(key);
    if (!tile) return;
    this.kept.delete(key);
    this.samples -= weightOf(tile);
  }
}

const keyOf = (point: string, level: number, index: number) => `${level} ${index} ${point}`;

/** An empty tile costs something, too. */
const weightOf = (tile: Tile) => tile.times.length + 8;
