import type uPlot from "uplot";
import { unit } from "./format";
import { word } from "./language/codes";
import { once } from "./language/once";
import { locale } from "./language/words";
import type { Curve } from "./series";

/** Reads a colour of the style sheet by its name. */
export type Ink = (name: string) => string;

/** The scale of curves that are on or off. */
export const onOff = "on/off";

/** Curves of one unit share an axis; the prefix keeps units apart from uPlot's own names. */
export const scaleKey = (c: Curve) => (c.kind === "bool" ? onOff : `unit ${c.unit}`);

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

const [minute, hour, day] = [60, 3600, 86_400];
const times = (unit: number, ...counts: number[]) => counts.map((n) => n * unit);

/** How far the ticks of time may be apart, in seconds: two minutes among them, so that a phone has more than one. */
const timeSteps = [
  ...[0.001, 0.01, 0.1].flatMap((unit) => times(unit, 1, 2, 5)),
  ...times(1, 1, 2, 5, 10, 20, 30),
  ...times(minute, 1, 2, 5, 10, 20, 30),
  ...times(hour, 1, 2, 3, 4, 6, 8, 12),
  ...times(day, 1, 2, 3, 4, 5, 7, 10, 15),
  ...times(30 * day, 1, 2, 3, 4, 6),
  ...times(365 * day, 1, 2, 5, 10, 25, 50),
];

/** The axis of time. */
export const timeAxis = (ink: Ink): uPlot.Axis => ({
  ...axisInk(ink),
  incrs: timeSteps,
  values: timeFormats,
  space: 70,
});

/** The axis of one unit: the first on the left, others on the right. */
export function valueAxis(
  key: string,
  index: number,
  curves: readonly Curve[],
  ink: Ink,
): uPlot.Axis {
  const mine = curves.filter((c) => scaleKey(c) === key);
  const colours = new Set(mine.map((c) => c.ink));
  const base = axisInk(ink);
  const alone = colours.size === 1 && curves.length > mine.length;
  const label = unit(mine[0]?.unit ?? "").slice(0, 16);
  const wide = (values: string[] | null) => Math.max(2, ...(values ?? []).map((v) => v.length));
  return {
    ...base,
    scale: key,
    side: index === 0 ? 3 : 1,
    stroke: alone ? inkOf(mine[0]?.ink ?? 0, ink) : base.stroke,
    grid: { ...base.grid, show: index === 0 },
    size: (_, values) => wide(values) * 7 + 14,
    ...(label && key !== onOff ? { label, labelSize: 18, labelGap: 0 } : {}),
    ...(key === onOff
      ? { splits: () => [0, 1], values: () => [word("off"), word("on")] }
      : { values: (_: uPlot, splits: number[]) => splits.map(short) }),
  };
}

/** As many colours as are told apart at a glance; further ones are made of hues. */
export const namedInks = 8;

const hueOf = (index: number) => Math.round((index * 137.508) % 360);

/** The colour of a curve, for a canvas. */
export const inkOf = (index: number, ink: Ink): string =>
  index < namedInks ? ink(`--c${index}`) : `hsl(${hueOf(index)} 62% ${ink("--c-light")})`;

/** The colour of a curve, for a style. */
export const inkStyle = (index: number): string =>
  index < namedInks ? `var(--c${index})` : `hsl(${hueOf(index)} 62% var(--c-light))`;

const thousands = once(() => new Intl.NumberFormat(locale, { maximumFractionDigits: 6 }));
const compact = once(
  () => new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 3 }),
);

/** A figure on an axis. */
const short = (n: number) => (Math.abs(n) >= 1e5 ? compact() : thousands()).format(n);

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
