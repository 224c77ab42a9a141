import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { type Ink, inkOf, onOff, scaleKey, timeAxis, valueAxis } from "./plot-axes";
import { followGestures } from "./plot-gestures";
import { extent, trace } from "./plot-paths";
import type { Curve } from "./series";
import { useDark } from "./use-dark";

/** A stretch of time and what is to be said about it. */
export interface Stretch {
  from: number;
  to: number;
  kind: "good" | "uncertain" | "bad" | "gap";
}

export interface PlotProps {
  curves: readonly Curve[];
  /** Changes with every change inside the curves. */
  version: number;
  /** Bounds of the time axis in milliseconds. */
  from: number;
  to: number;
  /** What is shaded behind the curves. */
  shades?: readonly Stretch[];
  /** Above the plot a lane for each curve that is no ghost: where it has samples. */
  lanes?: readonly (readonly Stretch[])[];
  /** Stretches with notes about them, which are numbered from 1. */
  notes?: readonly { from: number; to: number }[];
  /** The time zone of the axis; this browser's without it. */
  zone?: string;
  onZoom(from: number, to: number): void;
  onReset(): void;
  /** The time under the pointer, undefined when it left. */
  onCursor(time: number | undefined): void;
  /** Called while wheel, fingers or a dragged axis move the bounds; without it they do nothing. */
  onMove?(from: number, to: number): void;
}

/** The only user of uPlot: draws curves, with one vertical axis for each unit. */
export function Plot(props: PlotProps) {
  const { curves, version, from, to, shades, lanes, notes, zone } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef(props);
  now.current = props;
  const dark = useDark();
  const key = curves
    .map((c) => JSON.stringify([c.point, c.unit, c.kind, c.ink, c.ghost, c.stepped]))
    .join();

  // The key stands for the curves, dark for the colours
  useLayoutEffect(() => {
    const target = box.current;
    if (!target) return;
    const made = new uPlot(options(target, curves, now), dataOf(now), target);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize(sizeOf(target)));
    observer.observe(target);
    const leave = followGestures(made.root, made.over, now);
    return () => {
      leave();
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [key, dark, lanes?.length, zone]);

  // The version stands for the curves' content
  useLayoutEffect(() => {
    plot.current?.setData(dataOf(now));
  }, [curves, version, from, to, shades, lanes, notes]);

  return <div ref={box} class="plot-box" />;
}

const sizeOf = (box: HTMLElement) => ({ width: box.clientWidth, height: box.clientHeight });

type Now = { current: PlotProps };

/** uPlot is told the bounds only; the paths read the curves themselves. */
function dataOf({ current: { from, to, curves } }: Now): uPlot.AlignedData {
  return [[from / 1000, to / 1000], ...curves.map(() => [null, null])];
}

function options(box: HTMLElement, curves: readonly Curve[], now: Now): uPlot.Options {
  const style = getComputedStyle(box);
  const ink = (name: string) => style.getPropertyValue(name).trim();
  const inked = curves.map((c, i) => ({ ...c, ink: c.ink ?? i }));
  const keys = [...new Set(curves.map(scaleKey))];
  const shown = keys.slice(0, box.clientWidth < 560 ? 2 : 4);
  return {
    ...sizeOf(box),
    legend: { show: false },
    ...zoned(now.current.zone),
    // Half a date is beyond the first tick, half a time beyond the last one
    padding: [10 + lanesHeight(now), shown.length > 1 ? 0 : 18, 0, shown.length > 0 ? 0 : 36],
    scales: {
      x: { time: true, range: () => [now.current.from / 1000, now.current.to / 1000] },
      ...Object.fromEntries(keys.map((k) => [k, { range: () => rangeOf(k, now) }])),
    },
    axes: [timeAxis(ink), ...shown.map((k, i) => valueAxis(k, i, inked, ink))],
    series: [{}, ...inked.map((c, i) => seriesOf(c, i, ink, now))],
    cursor: {
      y: false,
      points: { show: false },
      drag: { x: true, y: false, setScale: false },
      bind: {
        dblclick: () => () => {
          now.current.onReset();
          return null;
        },
        // With the shift key a drag moves the curves instead of choosing a stretch
        mousedown: (_, __, start) => (e) => {
          if (!(e.shiftKey && now.current.onMove)) start(e);
          return null;
        },
      },
    },
    hooks: {
      drawClear: [(u) => shade(u, now, ink), (u) => drawLanes(u, now, ink)],
      draw: [(u) => drawNotes(u, now, ink)],
      setSelect: [(u) => selected(u, now)],
      setCursor: [(u) => pointed(u, now)],
    },
  };
}

/** The dates of the axis in a zone. */
const zoned = (zone: string | undefined): Partial<uPlot.Options> =>
  zone ? { tzDate: (s) => uPlot.tzDate(new Date(s * 1000), zone) } : {};

/** What the visible curves of a scale need, with room above and below. */
function rangeOf(key: string, { current: { curves, from, to } }: Now): uPlot.Range.MinMax {
  // What is on or off stands at the bottom, so that it does not cross measured curves
  if (key === onOff) return [-0.1, curves.every((c) => c.kind === "bool") ? 1.1 : 6];
  let low = Number.POSITIVE_INFINITY;
  let high = Number.NEGATIVE_INFINITY;
  for (const c of curves) {
    const mine = scaleKey(c) === key ? extent(c, from, to) : undefined;
    if (!mine) continue;
    low = Math.min(low, mine[0]);
    high = Math.max(high, mine[1]);
  }
  return low <= high ? uPlot.rangeNum(low, high, 0.1, true) : [0, 1];
}

/** From so many curves on lines are thin: they can be told apart, and cost a fraction to draw. */
const manyCurves = 16;

function seriesOf(curve: Curve, index: number, ink: Ink, now: Now): uPlot.Series {
  return {
    label: curve.point,
    scale: scaleKey(curve),
    stroke: inkOf(curve.ink ?? index, ink),
    width: now.current.curves.length > manyCurves ? 1 : 1.5,
    cap: "round",
    points: { show: false },
    paths: (u) => ({ stroke: pathOf(u, now, index), flags: 0 }),
    ...(curve.ghost ? { dash: [5, 4], alpha: 0.6, width: 1.25 } : {}),
  };
}

function pathOf(u: uPlot, { current: { curves, from, to } }: Now, index: number): Path2D {
  const path = new Path2D();
  const curve = curves[index];
  const scale = curve && u.scales[scaleKey(curve)];
  if (!curve || scale?.min == null || scale.max == null) return path;
  trace(curve, { ...u.bbox, from, to, low: scale.min, high: scale.max }, path);
  return path;
}

/** Paints stretches of time behind everything. */
function shade(u: uPlot, { current: { shades = [] } }: Now, ink: Ink): void {
  for (const stretch of shades) {
    const colour = ink(stretch.kind === "bad" ? "--bad-soft" : "--gap-soft");
    fill(u, stretch, colour, { top: u.bbox.top, height: u.bbox.height });
  }
}

const mostLanesHeight = 48;

/** The height of one lane, in pixels of the style: thinner the more there are. */
const laneHeight = (lanes: number) => (lanes > 0 ? Math.min(5, mostLanesHeight / lanes) : 0);

const lanesHeight = ({ current: { lanes = [] } }: Now) =>
  lanes.length > 0 ? Math.ceil(lanes.length * laneHeight(lanes.length)) + 6 : 0;

/** Paints above the plot where each curve has samples, and where they are bad. */
function drawLanes(u: uPlot, now: Now, ink: Ink): void {
  const { lanes = [], curves, from, to } = now.current;
  const height = laneHeight(lanes.length) * devicePixelRatio;
  const inks = curves.filter((c) => !c.ghost).map((c, i) => c.ink ?? i);
  const first = u.bbox.top - (lanesHeight(now) - 2) * devicePixelRatio;
  lanes.forEach((stretches, i) => {
    const row = { top: first + i * height, height: height > 3 ? height - 1 : height };
    fill(u, { from, to, kind: "gap" }, ink("--gap-soft"), row);
    for (const s of stretches) {
      const own = inkOf(inks[i] ?? i, ink);
      fill(
        u,
        s,
        s.kind === "bad" ? ink("--bad") : s.kind === "uncertain" ? ink("--warn") : own,
        row,
      );
    }
  });
}

/** Marks stretches with notes: a band, its edges, and its number at the foot. */
function drawNotes(u: uPlot, { current: { notes = [], from, to } }: Now, ink: Ink): void {
  const { ctx, bbox } = u;
  const edge = Math.max(1, devicePixelRatio);
  const foot = bbox.top + bbox.height;
  notes.forEach((note, i) => {
    if (note.to < from || note.from > to) return;
    const stretch = { ...note, kind: "good" as const };
    ctx.globalAlpha = 0.14;
    fill(u, stretch, ink("--accent"), { top: bbox.top, height: bbox.height });
    ctx.globalAlpha = 1;
    fill(u, stretch, ink("--accent"), { top: foot - 3 * edge, height: 3 * edge });
    const left = Math.max(bbox.left, u.valToPos(note.from / 1000, "x", true));
    ctx.fillStyle = ink("--accent");
    ctx.fillRect(left, bbox.top, edge, bbox.height);
    ctx.font = `${11 * devicePixelRatio}px system-ui, sans-serif`;
    ctx.textAlign = "left";
    ctx.textBaseline = "bottom";
    ctx.fillText(String(i + 1), left + 3 * edge, foot - 4 * edge);
  });
}

/** Fills a stretch of time in a row of canvas pixels. */
function fill(
  { ctx, bbox, valToPos }: uPlot,
  { from, to }: Stretch,
  colour: string,
  row: { top: number; height: number },
): void {
  const left = Math.max(bbox.left, valToPos(from / 1000, "x", true));
  const right = Math.min(bbox.left + bbox.width, valToPos(to / 1000, "x", true));
  if (right < left) return;
  ctx.fillStyle = colour;
  ctx.fillRect(left, row.top, Math.max(1, right - left), row.height);
}

function selected(u: uPlot, now: Now): void {
  const { left, width } = u.select;
  if (width < 4) return;
  const at = (x: number) => Math.round(u.posToVal(x, "x") * 1000);
  now.current.onZoom(at(left), at(left + width));
  u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
}

function pointed(u: uPlot, now: Now): void {
  const { left } = u.cursor;
  const inside = left !== undefined && left >= 0;
  now.current.onCursor(inside ? u.posToVal(left, "x") * 1000 : undefined);
}
