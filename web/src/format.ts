import type { Value } from "./api";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const units: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: SECOND,
  m: MINUTE,
  h: HOUR,
};

/** Milliseconds of a duration: a number of seconds or text such as "1m30s"; 0 if it is neither. */
export function millis(duration: number | string | null | undefined): number {
  if (typeof duration === "number") return Number.isFinite(duration) ? duration * SECOND : 0;
  let sum = 0;
  for (const [, count, unit] of (duration ?? "").matchAll(/([\d.]+)(ns|us|µs|ms|s|m|h)/g)) {
    sum += Number(count) * (units[unit ?? ""] ?? 0);
  }
  return Number.isFinite(sum) ? sum : 0;
}

/** A span of time in one or two units: "850 ms", "12 s", "3 min", "2 h 5 min", "4 d". */
export function span(ms: number): string {
  if (ms < SECOND) return `${Math.max(0, Math.round(ms))} ms`;
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms >= DAY) return pair(ms, DAY, "d", HOUR, "h");
  return pair(ms, HOUR, "h", MINUTE, "min");
}

function pair(ms: number, big: number, bigName: string, small: number, smallName: string): string {
  const rest = Math.floor((ms % big) / small);
  const first = `${Math.floor(ms / big)} ${bigName}`;
  return rest ? `${first} ${rest} ${smallName}` : first;
}

/** How old something is: "now" up to a second and a half, so that a live table stays calm. */
export const age = (ms: number) => (ms < 1.5 * SECOND ? "now" : span(ms));

/** A number with groups of thousands. */
export const count = (n: number) => n.toLocaleString("en-US", { maximumFractionDigits: 0 });

/** "1 device", "7 devices". */
export const plural = (n: number, word: string) => `${count(n)} ${word}${n === 1 ? "" : "s"}`;

/** A value for people: at most six significant digits, no digit lost in an integer. */
export function value(v: Value | undefined): string {
  if (v === null || v === undefined) return "–";
  if (typeof v === "boolean") return v ? "on" : "off";
  if (typeof v === "string") return v;
  if (Number.isInteger(v)) return Math.abs(v) < 1e15 ? v.toLocaleString("en-US") : String(v);
  const size = Math.abs(v);
  if (size >= 1e9 || size < 1e-4) return v.toExponential(4);
  const digits = size >= 1e5 ? 1 : size >= 1000 ? 2 : size >= 0.1 ? 3 : 5;
  return v.toLocaleString("en-US", {
    minimumFractionDigits: Math.min(2, digits),
    maximumFractionDigits: digits,
  });
}

/** A share in percent that never rounds an imperfection up to 100 %. */
export function percent(part: number, whole: number): string {
  if (whole <= 0 || part >= whole) return "100 %";
  return `${(Math.floor((part / whole) * 1000) / 10).toFixed(1)} %`;
}

const two = (n: number) => String(n).padStart(2, "0");

/** The time of day in this browser's zone: "14:03:09". */
export function clock(ms: number): string {
  const d = new Date(ms);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

/** Date and time in this browser's zone: "2026-03-09 14:03:09". */
export function dateTime(ms: number): string {
  const d = new Date(ms);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())} ${clock(ms)}`;
}

/** Units as engineers write them; what is not known stays as the registry has it. */
export function unit(name: string): string {
  const known: Record<string, string> = {
    degC: "°C",
    degF: "°F",
    degreesCelsius: "°C",
    degreesFahrenheit: "°F",
    percent: "%",
    "%RH": "% RH",
    m3: "m³",
    "m3/h": "m³/h",
    "m3/s": "m³/s",
    "W/m2": "W/m²",
  };
  return Object.hasOwn(known, name) ? (known[name] ?? name) : name;
}
