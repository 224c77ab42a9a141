import type { Value } from "./api";
import { word } from "./language/codes";
import { decimal, fixed } from "./language/number";
import { once } from "./language/once";
import { locale, say } from "./language/words";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

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
export const age = (ms: number) => (ms < 1.5 * SECOND ? word("now") : span(ms));

/** A number with groups of thousands. */
export const count = (n: number) => decimal(n, 0);

/** How many in a second: "0.2", "3.5", "1,240". */
export const rate = (n: number) => decimal(n, n >= 100 ? 0 : n >= 0.095 ? 1 : 2);

/** "1 device", "7 devices". */
export const plural = (n: number, noun: string) => say(`{0#${noun}}`, n);

/** Units of which more than two decimals say nothing: no sensor is that exact. */
const coarse = /^(deg(C|F|reesCelsius|reesFahrenheit)|°[CF]|K|percent|%|%RH|ppm)$/;

/** A value for people, with a fixed number of decimals for its size and unit, so that columns stand still. */
export function value(v: Value | undefined, unitName = ""): string {
  if (v === null || v === undefined) return "–";
  if (typeof v === "boolean") return word(v ? "on" : "off");
  if (typeof v === "string") return plain(v);
  return figure(v, unitName);
}

function figure(v: number, unitName: string): string {
  if (Number.isInteger(v)) return Math.abs(v) < 1e15 ? decimal(v, 3) : String(v);
  const size = Math.abs(v);
  if (size < 1 && coarse.test(unitName)) return fixed(Math.round(v * 100) / 100 || 0, 2);
  if (size >= 1e9 || size < 1e-4) return v.toExponential(3).replace(".", fixed(0.1, 1)[1] ?? ".");
  const digits = size >= 1000 ? 1 : size >= 1 ? 2 : size >= 0.01 ? 4 : 6;
  return fixed(v, digits);
}

/** A value with all its digits. */
export const exact = (v: Value | undefined) => (v === null || v === undefined ? "" : localized(v));

/** A value as it is, but for the decimal sign of the page's language. */
const localized = (v: Value) =>
  typeof v === "number" ? String(v).replace(".", fixed(0.1, 1)[1] ?? ".") : String(v);

/** An amount of storage: "3.2 MB". */
export function bytes(n: number): string {
  const names = ["B", "kB", "MB", "GB", "TB"];
  let size = n;
  let i = 0;
  while (size >= 1000 && i < names.length - 1) {
    size /= 1000;
    i++;
  }
  return `${size < 10 && i > 0 ? fixed(size, 1) : Math.round(size)} ${names[i]}`;
}

/** Text of a device without the characters that would turn the direction of the text around it. */
export const plain = (text: string) =>
  text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");

const reasons: Record<string, string> = {
  "good(substituted)": "a person or program put it in place of the measured value",
  "good(estimated)": "calculated for a gap",
  "good(edited)": "corrected by a person",
  "good(override)": "forced locally at the device",
  "good(backfilled)": "from the device's own log, read after an outage",
  "uncertain(clock)": "the clock of the device or node jumped",
  "uncertain(range)": "outside the range that the point declares",
  "bad(unreachable)": "the device or its line does not answer",
  "bad(timeout)": "no answer came in time",
  "bad(device)": "the device answered with an error for this point",
  "bad(config)": "the device has no such point, or of another type",
  "bad(value)": "the answer cannot be decoded",
  "bad(stale)": "the last value is older than it may be",
  "bad(sensor)": "the device reports a fault of the sensor",
  released: "nobody commands the point",
};

/** What a quality means, "" if its name says all. */
export const reasonFor = (quality: string) =>
  Object.hasOwn(reasons, quality) ? (reasons[quality] ?? "") : "";

const qualityNames: Record<string, string> = {
  good: "good",
  uncertain: "uncertain",
  bad: "bad",
  "good(substituted)": "substituted",
  "good(estimated)": "estimated",
  "good(edited)": "edited",
  "good(override)": "forced locally",
  "good(backfilled)": "from the device's log",
  "uncertain(clock)": "uncertain, clock jumped",
  "uncertain(range)": "uncertain, out of range",
  "bad(unreachable)": "unreachable",
  "bad(timeout)": "no answer in time",
  "bad(device)": "device error",
  "bad(config)": "no such point",
  "bad(value)": "cannot be read",
  "bad(stale)": "stale",
  "bad(sensor)": "sensor fault",
};

/** A quality in a few words, for a table; reasonFor says more. */
export const qualityName = (quality: string) =>
  plain(Object.hasOwn(qualityNames, quality) ? (qualityNames[quality] ?? "") : quality);

/** A share in percent that never rounds an imperfection up to 100 %. */
export function percent(part: number, whole: number): string {
  if (whole <= 0 || part >= whole) return "100 %";
  return `${fixed(Math.floor((part / whole) * 1000) / 10, 1)} %`;
}

/** A share of one in percent, for a load that changes: "0 %", "0.4 %", "130 %". */
export const percentOf = (n: number) => `${decimal(n * 100, n < 0.1 ? 1 : 0)} %`;

const two = (n: number) => String(n).padStart(2, "0");

/** The time of day in this browser's zone: "14:03:09". */
export function clock(ms: number): string {
  const d = new Date(ms);
  return `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
}

const isEnglish = locale.startsWith("en");
const form = (parts: Intl.DateTimeFormatOptions) =>
  once(() => new Intl.DateTimeFormat(locale, parts));
const dates = form({ year: "numeric", month: "2-digit", day: "2-digit" });
const dayMonths = form({ day: "2-digit", month: "2-digit" });
const shortDates = form({ day: "numeric", month: "short" });

/** The locale of dates in words: English ones have the day before the month. */
export const dateLocale = isEnglish ? "en-GB" : locale;

/** A day in this browser's zone: "2026-03-09", or as the page's language writes it. */
export function date(ms: number): string {
  const d = new Date(ms);
  if (!isEnglish) return dates().format(d);
  return `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`;
}

/** A day without its year: "03-09". */
export const dayMonth = (ms: number) => (isEnglish ? date(ms).slice(5) : dayMonths().format(ms));

/** Hour and minute in this browser's zone: "14:03". */
export const hourMinute = (ms: number) => clock(ms).slice(0, 5);

/** Date and time in this browser's zone: "2026-03-09 14:03:09". */
export const dateTime = (ms: number) => `${date(ms)} ${clock(ms)}`;

/** Date, hour and minute in this browser's zone: "2026-03-09 14:03". */
export const dateMinute = (ms: number) => `${date(ms)} ${hourMinute(ms)}`;

/** A text of a node, with the times in it in this browser's zone. */
export const localTimes = (text: string) =>
  text.replace(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, (t) => dateTime(Date.parse(t)));

/** Which zone the times of the page are in: "Times in Europe/Berlin". */
export const zoneWords = () => `Times in ${Intl.DateTimeFormat().resolvedOptions().timeZone}`;

/** Day and minute in this browser's zone: "9 Mar 14:03". */
export function shortTime(ms: number): string {
  const d = new Date(ms);
  const day = isEnglish ? `${d.getDate()} ${months[d.getMonth()]}` : shortDates().format(d);
  return `${day} ${hourMinute(ms)}`;
}

const months = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");

/** Units as engineers write them; what is not known stays as the registry has it. */
export function unit(name: string): string {
  const known: Record<string, string> = {
    "1": "", // a figure without a unit, such as a power factor
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
