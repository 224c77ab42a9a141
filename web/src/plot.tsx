import { useLayoutEffect, useMemo, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { unit } from "./format";
import { type Curve, columns } from "./series";
import { useDark } from "./use-dark";

interface Props {
  curves: readonly Curve[];
  /** Changes with every change inside the curves. */
  version: number;
  /** Bounds of the time axis in milliseconds. */
  from: number;
  to: number;
  onZoom(from: number, to: number): void;
  onReset(): void;
  /** The time under the pointer, undefined when it left. */
  onCursor(time: number | undefined): void;
}

/** The only user of uPlot: draws curves, with one vertical axis for each unit. */
export function Plot(props: Props) {
  const { curves, version, from, to } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const now = useRef(props);
  now.current = props;
  const dark = useDark();
  const key = curves.map((c) => JSON.stringify([c.point, c.unit, c.kind])).join();
  // The version stands for the curves' content
  const data = useMemo(() => columns(curves) as uPlot.AlignedData, [key, version]);

  // The key stands for the curves, dark for the colours
  useLayoutEffect(() => {
    const target = box.current;
    if (!target) return;
    const made = new uPlot(options(target, curves, now), data, target);
    plot.current = made;
    const observer = new ResizeObserver(() => made.setSize(sizeOf(target)));
    observer.observe(target);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, [key, dark]);

  // New bounds need a redraw, too
  useLayoutEffect(() => {
    plot.current?.setData(data);
  }, [data, from, to]);

  return <div ref={box} class="plot-box" />;
}

const sizeOf = (box: HTMLElement) => ({ width: box.clientWidth, height: box.clientHeight });

type Now = { current: Props };

function options(box: HTMLElement, curves: readonly Curve[], now: Now): uPlot.Options {
  const style = getComputedStyle(box);
  const ink = (name: string) => style.getPropertyValue(name).trim();
  const keys = [...new Set(curves.map(scaleKey))];
  const shown = keys.slice(0, box.clientWidth < 560 ? 2 : 4);
  return {
    ...sizeOf(box),
    legend: { show: false },
    padding: [10, shown.length > 1 ? 0 : 12, 0, 0],
    scales: {
      x: { time: true, range: () => [now.current.from / 1000, now.current.to / 1000] },
      ...Object.fromEntries(keys.map((k) => [k, k === onOff ? { range: [-0.1, 1.1] } : {}])),
    },
    axes: [
      { ...axisInk(ink), values: timeFormats, space: 70 },
      ...shown.map((k, i) => valueAxis(k, i, curves, ink)),
    ],
    series: [{}, ...curves.map((c, i) => seriesOf(c, i, ink))],
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false },
      bind: {
        dblclick: () => () => {
          now.current.onReset();
          return null;
        },
      },
    },
    hooks: { setSelect: [(u) => selected(u, now)], setCursor: [(u) => pointed(u, now)] },
  };
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

const onOff = "on/off";

/** Curves of one unit share an axis; the prefix keeps units apart from uPlot's own names. */
const scaleKey = (c: Curve) => (c.kind === "bool" ? onOff : `unit ${c.unit}`);

type Ink = (name: string) => string;

function seriesOf(curve: Curve, index: number, ink: Ink): uPlot.Series {
  const stepped = curve.kind === "bool" ? uPlot.paths.stepped?.({ align: 1 }) : undefined;
  return {
    label: curve.point,
    scale: scaleKey(curve),
    stroke: ink(`--c${index}`),
    width: 1.5,
    ...(stepped ? { paths: stepped } : {}),
  };
}

function axisInk(ink: Ink) {
  const line = { stroke: ink("--grid"), width: 1 };
  return {
    stroke: ink("--quiet"),
    font: "12px system-ui, sans-serif",
    labelFont: "12px system-ui, sans-serif",
    grid: line,
    ticks: { ...line, size: 5 },
  };
}

function valueAxis(key: string, index: number, curves: readonly Curve[], ink: Ink): uPlot.Axis {
  const mine = curves.flatMap((c, i) => (scaleKey(c) === key ? [i] : []));
  const base = axisInk(ink);
  const stroke = mine.length === 1 && curves.length > 1 ? ink(`--c${mine[0]}`) : base.stroke;
  const label = unit(curves[mine[0] ?? 0]?.unit ?? "").slice(0, 16);
  const wide = (values: string[] | null) => Math.max(2, ...(values ?? []).map((v) => v.length));
  return {
    ...base,
    scale: key,
    side: index === 0 ? 3 : 1,
    stroke,
    grid: { ...base.grid, show: index === 0 },
    size: (_, values) => wide(values) * 7 + 14,
    ...(label && key !== onOff ? { label, labelSize: 18, labelGap: 0 } : {}),
    ...(key === onOff
      ? { splits: () => [0, 1], values: () => ["off", "on"] }
      : { values: (_: uPlot, splits: number[]) => splits.map(short) }),
  };
}

const thousands = new Intl.NumberFormat("en-US", { maximumFractionDigits: 6 });
const compact = new Intl.NumberFormat("en-US", { notation: "compact", maximumFractionDigits: 3 });

/** A figure on an axis. */
const short = (n: number) => (Math.abs(n) >= 1e5 ? compact : thousands).format(n);

// Each line: smallest distance of ticks in seconds, the format, and what is added when the year,
// month, day, hour, minute or second begins; 1 means "instead of the second line".
const timeFormats = [
  [365 * 86400, "{YYYY}", null, null, null, null, null, null, 1],
  [28 * 86400, "{MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [86400, "{D} {MMM}", "\n{YYYY}", null, null, null, null, null, 1],
  [60, "{HH}:{mm}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
  [1, "{HH}:{mm}:{ss}", "\n{D} {MMM} {YYYY}", null, "\n{D} {MMM}", null, null, null, 1],
  [
    0.001,
    ":{ss}.{fff}",
    "\n{D} {MMM} {YYYY} {HH}:{mm}",
    null,
    "\n{D} {MMM} {HH}:{mm}",
    null,
    "\n{HH}:{mm}",
    null,
    1,
  ],
];
