// The lines of a plot as canvas paths. Each curve has its own times, so nothing is merged: a
// hundred curves cost a hundred times one.

import { type Curve, indexAfter } from "./series";

/** Where a plot draws, in canvas pixels, and what its edges stand for. */
export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
  /** Milliseconds at the left and right edge. */
  from: number;
  to: number;
  /** Values at the bottom and top edge. */
  low: number;
  high: number;
}

/** What a path needs to be told; Path2D is one. */
export interface Pen {
  moveTo(x: number, y: number): void;
  lineTo(x: number, y: number): void;
}

/** The least and greatest value between two times and one sample beyond; undefined if there is none. */
export function extent(curve: Curve, from: number, to: number): [number, number] | undefined {
  const [first, end] = visible(curve, from, to);
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (let i = first; i < end; i++) {
    const v = curve.values[i];
    if (typeof v !== "number") continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  return low <= high ? [low, high] : undefined;
}

/** The samples between two times with a neighbour on each side: first, and one behind the last. */
function visible(curve: Curve, from: number, to: number): [number, number] {
  const first = Math.max(0, indexAfter(curve, from) - 1);
  return [first, Math.min(curve.times.length, indexAfter(curve, to) + 1)];
}

/** Draws a curve. Samples of one column of pixels become one stroke from its least to its greatest. */
export function trace(curve: Curve, frame: Frame, pen: Pen): void {
  const { left, from } = frame;
  const scaleX = frame.width / (frame.to - from);
  const scaleY = frame.height / (frame.high - frame.low || 1);
  const bottom = frame.top + frame.height;
  const x = (time: number) => left + (time - from) * scaleX;
  const y = (value: number) => bottom - (value - frame.low) * scaleY;
  const [first, end] = visible(curve, from, frame.to);
  const column = new Column(pen, curve.stepped ?? curve.kind === "bool");
  for (let i = first; i < end; i++) {
    const v = curve.values[i];
    if (typeof v === "number") column.add(x(curve.times[i] ?? 0), y(v));
    else column.lift();
  }
  column.lift();
}

/** Folds what falls into one column of pixels. */
class Column {
  private at = Number.NaN;
  private x = 0;
  private last = 0;
  private low = 0;
  private high = 0;
  private count = 0;
  /** Whether the pen stands on the paper. */
  private down = false;
  private drawn = 0;

  constructor(
    private readonly pen: Pen,
    private readonly stepped: boolean,
  ) {}

  add(x: number, y: number): void {
    const column = Math.floor(x);
    if (column !== this.at || this.count === 0) {
      this.flush();
      this.at = column;
      this.x = x;
      this.low = this.high = y;
      this.begin(x, y);
    }
    this.low = Math.min(this.low, y);
    this.high = Math.max(this.high, y);
    this.last = y;
    this.count++;
  }

  /** Ends the line; a sample alone becomes a dot. */
  lift(): void {
    this.flush();
    if (this.down && this.drawn === 1) this.pen.lineTo(this.x + 0.01, this.last);
    this.down = false;
    this.drawn = 0;
  }

  private begin(x: number, y: number): void {
    if (!this.down) this.pen.moveTo(x, y);
    else {
      if (this.stepped) this.pen.lineTo(x, this.last);
      this.pen.lineTo(x, y);
    }
    this.down = true;
    this.drawn++;
  }

  private flush(): void {
    if (this.count > 1) {
      this.pen.lineTo(this.x, this.low);
      this.pen.lineTo(this.x, this.high);
      this.pen.lineTo(this.x, this.last);
      this.drawn++;
    }
    this.count = 0;
  }
}
