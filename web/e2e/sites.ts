// Sites for the stand-in node: plausible, hostile, large. Values are functions of time, so that
// the same moment gives the same picture.

import type { Device, Kind, Point, Value } from "../src/api";

/** A point with the function that gives its value at a time in milliseconds. */
export interface Source {
  name: string;
  kind: Kind;
  unit: string;
  description?: string;
  tags?: Record<string, string>;
  /** "good" unless the device says otherwise. */
  quality?: string;
  /** Whether it can be set. */
  writable?: boolean;
  at(ms: number): Value;
}

/** A device with its points. */
export interface Unit {
  path: string;
  driver: string;
  line: string;
  points: Source[];
  /** What it says about its last error; it is offline then. */
  error?: { kind: string; text: string };
}

/** All devices of a site. */
export type Site = Unit[];

const minute = 60_000;

/** A slow wave with two faster ones on it, and noise that is a function of time, too. */
function wave(mean: number, swing: number, period: number, phase: number) {
  return (ms: number) => {
    const a = (2 * Math.PI * ms) / period + phase;
    const noise = Math.sin(ms / 977 + phase * 7) * Math.cos(ms / 1531 + phase * 3);
    return mean + swing * (Math.sin(a) + 0.25 * Math.sin(5.3 * a) + 0.03 * noise);
  };
}

const float = (
  name: string,
  unit: string,
  at: (ms: number) => number,
  description = "",
): Source => ({
  name,
  kind: "float",
  unit,
  description,
  at: (ms) => Math.round(at(ms) * 1000) / 1000,
});

const bool = (name: string, at: (ms: number) => boolean, description = ""): Source => ({
  name,
  kind: "bool",
  unit: "",
  description,
  at,
});

function zone(n: number): Unit {
  return {
    path: `campus/hq/floor ${Math.ceil(n / 3)}/zone ${n}`,
    driver: "sim",
    line: "sim",
    points: [
      float("temperature", "degC", wave(21.4, 0.7, 17 * minute, n), "Room temperature"),
      {
        ...float("setpoint", "degC", () => 21.5, "What the occupants asked for"),
        writable: true,
      },
      float("humidity", "%RH", wave(44, 3, 31 * minute, n * 2)),
      float("co2", "ppm", wave(640, 120, 43 * minute, n * 3)),
      {
        name: "damper",
        kind: "int",
        unit: "percent",
        at: (ms) => Math.round(wave(48, 18, 9 * minute, n)(ms)),
      },
      bool("occupied", (ms) => Math.floor(ms / (7 * minute)) % 3 !== n % 3),
    ],
  };
}

const airHandler: Unit = {
  path: "campus/hq/ahu1",
  driver: "sim",
  line: "sim",
  points: [
    float("supply temperature", "degC", wave(16.2, 0.9, 12 * minute, 1), "Air to the zones"),
    float("return temperature", "degC", wave(22.1, 0.5, 19 * minute, 2)),
    float("static pressure", "Pa", wave(248, 11, 5 * minute, 3)),
    float("fan speed", "percent", wave(62, 9, 8 * minute, 4)),
    { ...bool("fan on", () => true), writable: true },
    { name: "mode", kind: "text", unit: "", at: () => "cooling" },
  ],
};

const boiler: Unit = {
  path: "campus/plant/boiler1",
  driver: "modbus",
  line: "modbus tcp 127.0.0.1:5020",
  points: [
    float("supply_temp", "degC", wave(67, 4.2, 13 * minute, 0.4), "Water to the building"),
    float("return_temp", "degC", wave(53, 2.8, 13 * minute, 0), "Water back from the building"),
    float("flow", "m3/h", wave(12.4, 1.1, 7 * minute, 2)),
    float("power", "kW", wave(184, 31, 13 * minute, 1)),
    {
      name: "starts",
      kind: "int",
      unit: "",
      at: (ms) => 14_200 + Math.floor((ms / minute) % 1000),
    },
    bool("burner", (ms) => Math.sin(ms / (2 * minute)) > -0.2),
    { ...float("flue_temp", "degC", () => 0), quality: "bad(device)", at: () => null },
  ],
};

const meter: Unit = {
  path: "campus/plant/meter",
  driver: "modbus",
  line: "modbus tcp 127.0.0.1:5020",
  points: [
    float("active power", "kW", wave(312, 44, 23 * minute, 1)),
    float("voltage L1", "V", wave(230.4, 1.2, 3 * minute, 2)),
    float("energy", "kWh", (ms) => 1_204_300 + ((ms / (60 * minute)) % 10_000)),
  ],
};

const weather: Unit = {
  path: "campus/weather",
  driver: "sim",
  line: "sim",
  points: [
    float("air temperature", "degC", wave(7.5, 3, 180 * minute, 0)),
    float("solar", "W/m2", wave(160, 90, 120 * minute, 1)),
  ],
};

/** A building with real and simulated devices, all well. */
export const building: Site = [boiler, meter, airHandler, ...[1, 2, 3, 4, 5, 6].map(zone), weather];

/** The same with one device that does not answer. */
export const troubled: Site = building.map((u) =>
  u === meter
    ? { ...u, error: { kind: "unreachable", text: "dial tcp 127.0.0.1:5020: connection refused" } }
    : u,
);

/** What a device may try. Each would set window.pwned if it were taken for markup or script. */
export const attacks = [
  "<img src=x onerror=window.pwned=1>",
  '"><script>window.pwned=1</script>',
  "'-alert(1)-'</style><svg onload=window.pwned=1>",
  "javascript:window.pwned=1",
  "__proto__",
  "two * stars > and . dots",
  "ünïcødé ‮ 温度 🌡",
] as const;

/** A site in which every text that a device can choose is an attack. */
export const hostile: Site = attacks.map((attack, i) => ({
  path: `hostile ${i}/${attack}`,
  driver: attack,
  line: attack,
  points: [
    {
      ...float(attack, attack, wave(10 + i, 2, 3 * minute, i), attack),
      tags: { [attack]: attack },
    },
    { name: `says ${attack}`, kind: "text", unit: attack, description: attack, at: () => attack },
    { name: "quality", kind: "float", unit: "", quality: `bad(${attack})`, at: () => null },
  ],
  ...(i === 1 ? { error: { kind: attack, text: attack } } : {}),
}));

/** Fifty devices with twenty points each. */
export const large: Site = Array.from({ length: 50 }, (_, d) => ({
  path: `plant/hall ${d % 5}/device ${d}`,
  driver: "sim",
  line: "sim",
  points: Array.from({ length: 20 }, (_, p) =>
    float(`register ${p}`, "kW", wave(d + p, 1, 5 * minute, d * p)),
  ),
}));

/** The points of a unit as the catalogue has them. */
export const catalogueOf = (u: Unit): Point[] =>
  u.points.map((p) => ({
    path: `${u.path}/${p.name}`,
    kind: p.kind,
    unit: p.unit,
    description: p.description ?? "",
    writable: p.writable ?? false,
    device: u.path,
    interval: 1,
    tags: p.tags ?? null,
  }));

/** A unit as the list of devices has it, after a number of reads. */
export const deviceOf = (u: Unit, reads: number, now: number): Device => ({
  path: u.path,
  driver: u.driver,
  line: u.line,
  state: u.error ? "offline" : "online",
  interval: 1,
  concern: u.error ? `${u.path} does not answer: ${u.error.text}` : "",
  problem: "",
  last_read: u.error ? null : new Date(now).toISOString(),
  last_error: u.error?.text ?? "",
  last_error_time: u.error ? new Date().toISOString() : null,
  error_kind: u.error?.kind ?? "",
  reads: u.error ? 0 : reads,
  failures: u.error ? reads : 0,
  points: u.points.length,
  reports: 0,
  lost: 0,
  misdated: 0,
  latency_ms: u.error ? 0 : 3.4,
});
