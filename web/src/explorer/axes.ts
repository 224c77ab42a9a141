import { value } from "../format";
import type { Span } from "../span";
import type { Pen } from "./canvas";
import { ticksOf } from "./shapes";

/** Where a picture lies within its axes. */
export interface Frame {
  left: number;
  top: number;
  width: number;
  height: number;
  x(v: number): number;
  y(v: number): number;
}

const margin = { left: 64, right: 12, top: 10, bottom: 42 };

/** Bounds with a little room on both sides. */
export function roomy([low, high]: Span): Span {
  const room = high > low ? (high - low) * 0.05 : Math.abs(low) * 0.1 || 1;
  return [low - room, high + room];
}

/** Draws axes with round figures, and says where values lie between them. */
export function drawAxes(
  { ctx, width, height, ink }: Pen,
  x: { bounds: Span; label: string },
  y: { bounds: Span; label: string },
): Frame {
  const inner = {
    left: margin.left,
    top: margin.top,
    width: Math.max(1, width - margin.left - margin.right),
    height: Math.max(1, height - margin.top - margin.bottom),
  };
  const scale = (v: number, [low, high]: Span) => (v - low) / (high - low || 1);
  const frame: Frame = {
    ...inner,
    x: (v) => inner.left + scale(v, x.bounds) * inner.width,
    y: (v) => inner.top + inner.height - scale(v, y.bounds) * inner.height,
  };
  ctx.strokeStyle = ink("--grid");
  ctx.fillStyle = ink("--quiet");
  ctx.lineWidth = 1;
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  for (const tick of ticksOf(y.bounds, inner.height / 60)) {
    line(ctx, [inner.left, frame.y(tick)], [inner.left + inner.width, frame.y(tick)]);
    ctx.fillText(figure(tick), inner.left - 8, frame.y(tick));
  }
  ctx.textAlign = "center";
  ctx.textBaseline = "top";
  const bottom = inner.top + inner.height;
  for (const tick of ticksOf(x.bounds, inner.width / 90)) {
    line(ctx, [frame.x(tick), inner.top], [frame.x(tick), bottom]);
    ctx.fillText(figure(tick), frame.x(tick), bottom + 6);
  }
  ctx.fillText(x.label, inner.left + inner.width / 2, bottom + 24, inner.width);
  ctx.save();
  ctx.translate(10, inner.top + inner.height / 2);
  ctx.rotate(-Math.PI / 2);
  ctx.fillText(y.label, 0, -6, inner.height);
  ctx.restore();
  return frame;
}

const figure = (n: number) =>
  Math.abs(n) >= 1e5 || Number.isInteger(n) ? value(n) : String(Number(n.toPrecision(6)));

/** A line between two places. */
export function line(
  ctx: CanvasRenderingContext2D,
  [x1, y1]: readonly [number, number],
  [x2, y2]: readonly [number, number],
): void {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}
