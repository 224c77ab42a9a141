// Units of measurement: what may be added, what a product or a quotient is in, and how it is called.

/** A unit: exponents of base units, and how many of their product it is. */
export interface Unit {
  dims: Readonly<Record<string, number>>;
  scale: number;
  name: string;
  /** What 0 is in kelvin, of a scale of temperature such as °C; undefined for other units. */
  zero?: number;
}

/** What has no unit. */
export const none: Unit = { dims: {}, scale: 1, name: "" };

const base = (dims: Record<string, number>, scale: number): Omit<Unit, "name"> => ({ dims, scale });
const power = { kg: 1, m: 2, s: -3 };
const energy = { kg: 1, m: 2, s: -2 };
const voltage = { kg: 1, m: 2, s: -3, A: -1 };
const pressure = { kg: 1, m: -1, s: -2 };
const hour = 3600;

// Reactive and apparent power are told apart from power, as IEC 80000-6 names them.
const known: Record<string, Omit<Unit, "name">> = {
  W: base(power, 1),
  kW: base(power, 1e3),
  MW: base(power, 1e6),
  GW: base(power, 1e9),
  Wh: base(energy, hour),
  kWh: base(energy, 1e3 * hour),
  MWh: base(energy, 1e6 * hour),
  GWh: base(energy, 1e9 * hour),
  J: base(energy, 1),
  kJ: base(energy, 1e3),
  MJ: base(energy, 1e6),
  GJ: base(energy, 1e9),
  var: base({ var: 1 }, 1),
  kvar: base({ var: 1 }, 1e3),
  Mvar: base({ var: 1 }, 1e6),
  varh: base({ var: 1, s: 1 }, hour),
  kvarh: base({ var: 1, s: 1 }, 1e3 * hour),
  VA: base({ VA: 1 }, 1),
  kVA: base({ VA: 1 }, 1e3),
  MVA: base({ VA: 1 }, 1e6),
  VAh: base({ VA: 1, s: 1 }, hour),
  kVAh: base({ VA: 1, s: 1 }, 1e3 * hour),
  mV: base(voltage, 1e-3),
  V: base(voltage, 1),
  kV: base(voltage, 1e3),
  mA: base({ A: 1 }, 1e-3),
  A: base({ A: 1 }, 1),
  kA: base({ A: 1 }, 1e3),
  Ah: base({ A: 1, s: 1 }, hour),
  K: base({ K: 1 }, 1),
  Pa: base(pressure, 1),
  hPa: base(pressure, 100),
  kPa: base(pressure, 1e3),
  mbar: base(pressure, 100),
  bar: base(pressure, 1e5),
  mm: base({ m: 1 }, 1e-3),
  cm: base({ m: 1 }, 1e-2),
  m: base({ m: 1 }, 1),
  km: base({ m: 1 }, 1e3),
  l: base({ m: 3 }, 1e-3),
  L: base({ m: 3 }, 1e-3),
  ms: base({ s: 1 }, 1e-3),
  s: base({ s: 1 }, 1),
  min: base({ s: 1 }, 60),
  h: base({ s: 1 }, hour),
  d: base({ s: 1 }, 24 * hour),
  Hz: base({ s: -1 }, 1),
  kHz: base({ s: -1 }, 1e3),
  g: base({ kg: 1 }, 1e-3),
  kg: base({ kg: 1 }, 1),
  t: base({ kg: 1 }, 1e3),
  "%": base({}, 0.01),
  percent: base({}, 0.01),
  ppm: base({}, 1e-6),
};

const fahrenheit = 5 / 9;
const temperatures: Record<string, Unit> = {};
for (const name of ["degC", "°C", "degreesCelsius"]) {
  temperatures[name] = { dims: { K: 1 }, scale: 1, name, zero: 273.15 };
}
for (const name of ["degF", "°F", "degreesFahrenheit"]) {
  temperatures[name] = { dims: { K: 1 }, scale: fahrenheit, name, zero: 255.372222 };
}

/** Names that results get, in this order of preference. */
const results = [
  "kWh",
  "MWh",
  "Wh",
  "kW",
  "MW",
  "W",
  "kvar",
  "kvarh",
  "kVA",
  "kVAh",
  "V",
  "A",
  "Ah",
  "K",
  "bar",
  "kPa",
  "Pa",
  "m3",
  "l",
  "kg",
  "t",
  "m",
  "h",
  "min",
  "s",
  "Hz",
  "m3/h",
  "l/s",
  "m3/s",
  "kg/s",
  "kg/h",
  "m/s",
];

const superscripts: Record<string, string> = { "²": "2", "³": "3", "⁻": "-" };

/** Reads the name of a unit. What is not known is a unit of its own, which goes together with itself only. */
export function parseUnit(name: string): Unit {
  const text = name.trim();
  if (text === "" || text === "1") return none;
  const scale = Object.hasOwn(temperatures, text) ? temperatures[text] : undefined;
  if (scale) return scale;
  let unit: Unit = { ...none, name: text };
  let sign = 1;
  for (const part of text.replace(/[²³⁻]/g, (c) => superscripts[c] ?? c).split(/([/*·])/)) {
    if (part === "/") sign = -1;
    else if (part !== "*" && part !== "·") {
      const one = factorOf(part);
      if (!one) return { dims: { [text]: 1 }, scale: 1, name: text };
      unit = { ...combine(unit, one, sign), name: text };
    }
  }
  return unit;
}

/** One unit with an exponent, such as m3 or m^2; undefined if it is not known. */
function factorOf(part: string): Unit | undefined {
  const found = /^\s*(.*?)\^?(-?\d)?\s*$/.exec(part);
  const [, letters = "", digits] = found ?? [];
  if (letters === "1" || (letters === "" && digits === "1")) return none;
  if (!Object.hasOwn(known, letters)) return undefined;
  const one = { ...(known[letters] ?? none), name: letters };
  return raise(one, Number(digits ?? 1));
}

function raise({ dims, scale, name }: Unit, exponent: number): Unit {
  const raised = Object.entries(dims).map(([k, n]) => [k, n * exponent]);
  return { dims: Object.fromEntries(raised), scale: scale ** exponent, name };
}

/** The dimensions and the scale of a product (sign 1) or quotient (sign -1). */
function combine(a: Unit, b: Unit, sign: number): Unit {
  const dims: Record<string, number> = { ...a.dims };
  for (const [k, n] of Object.entries(b.dims)) {
    const sum = (dims[k] ?? 0) + sign * n;
    if (sum === 0) delete dims[k];
    else dims[k] = sum;
  }
  return { dims, scale: a.scale * b.scale ** sign, name: "" };
}

const isPlain = (u: Unit) => Object.keys(u.dims).length === 0;

/** Whether two units measure the same. */
export function isAlike(a: Unit, b: Unit): boolean {
  const keys = Object.keys(a.dims);
  return keys.length === Object.keys(b.dims).length && keys.every((k) => a.dims[k] === b.dims[k]);
}

const near = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.abs(b);

/** A unit with a factor that values are multiplied by to be in it. */
export interface Scaled {
  unit: Unit;
  factor: number;
}

/** The unit of a product or a quotient: kW and h give kWh, kWh and h give kW, m3 and kW give m3/kW. */
export function productOf(a: Unit, b: Unit, sign: 1 | -1): Scaled {
  const both = combine(a, b, sign);
  if (isPlain(both)) return { unit: none, factor: both.scale };
  if (isPlain(b)) return { unit: a, factor: b.scale ** sign };
  if (isPlain(a) && sign === 1) return { unit: b, factor: a.scale };
  return { unit: { ...both, name: nameOf(both) || joined(a, b, sign) }, factor: 1 };
}

/** A unit that is called by one of the usual names, "" if there is none. */
function nameOf(unit: Unit): string {
  return (
    results.find((name) => {
      const known = parseUnit(name);
      return isAlike(known, unit) && near(known.scale, unit.scale);
    }) ?? ""
  );
}

function joined(a: Unit, b: Unit, sign: 1 | -1): string {
  if (sign === 1) return `${a.name}·${b.name}`;
  return /[/·]/.test(b.name) ? `${a.name || 1}/(${b.name})` : `${a.name || 1}/${b.name}`;
}

/** The square root of a unit; undefined if it has none. */
export function rootOf(u: Unit): Unit | undefined {
  if (u.zero !== undefined || Object.values(u.dims).some((n) => n % 2 !== 0)) return undefined;
  const half = { ...raise(u, 0.5), name: "" };
  return isPlain(u)
    ? { ...none, scale: half.scale }
    : { ...half, name: nameOf(half) || `√(${u.name})` };
}

/** The unit of differences: K for °C. */
export function differenceOf(u: Unit): Unit {
  if (u.zero === undefined) return u;
  const { zero: _, ...step } = u;
  return { ...step, name: u.scale === 1 ? "K" : "°F difference" };
}

/** Whether shares of a value make sense: they do not where 0 is an agreement, as in °C. */
export const hasShares = (u: Unit) => u.zero === undefined;

/** The unit of an integral over hours: kWh for kW, m3 for m3/h, kW·h for what has no name. */
export const integralOf = (u: Unit) => productOf(u, parseUnit("h"), 1);
