// What is typed about the first device, and what becomes of it.

/** A register of a Modbus device. */
export interface Register {
  name: string;
  table: string;
  address: string;
  type: string;
  unit: string;
}

/** The first device as it is typed. */
export interface Draft {
  driver: "sim" | "modbus";
  name: string;
  interval: string;
  model: string;
  address: string;
  unit: string;
  registers: readonly Register[];
}

/** The tables of Modbus with the types that make sense in them. */
export const tables = ["holding", "input", "coil", "discrete"] as const;
export const types = ["int16", "uint16", "int32", "uint32", "float32", "int64", "float64"] as const;

/** The parts of a building that can be simulated. */
export const models = [
  { model: "ahu", name: "An air handling unit" },
  { model: "zone", name: "A room" },
  { model: "meter", name: "A meter" },
  { model: "weather", name: "A weather station" },
] as const;

/** How often a device may be read, as the configuration writes it and as people say it. */
export const intervals = [
  ["1s", "second"],
  ["5s", "5 seconds"],
  ["10s", "10 seconds"],
  ["1m", "minute"],
] as const;

export const noRegister: Register = {
  name: "",
  table: "holding",
  address: "",
  type: "int16",
  unit: "",
};

/** What the guide begins with: something that works without any hardware. */
export const firstDraft: Draft = {
  driver: "sim",
  name: "ahu1",
  interval: "1s",
  model: "ahu",
  address: "",
  unit: "1",
  registers: [{ ...noRegister, address: "0" }],
};

/** What the driver is told. */
export function configOf(draft: Draft): Record<string, unknown> {
  if (draft.driver === "sim") return { model: draft.model };
  return {
    address: draft.address.trim(),
    unit: Number(draft.unit),
    registry: draft.registers.map(rowOf),
  };
}

function rowOf(r: Register): Record<string, unknown> {
  const isBit = r.table === "coil" || r.table === "discrete";
  return {
    name: r.name.trim(),
    table: r.table,
    address: Number(r.address),
    type: isBit ? "bool" : r.type,
    ...(r.unit.trim() ? { unit: r.unit.trim() } : {}),
  };
}

/** What keeps the draft from being tried, "" if nothing. */
export function gapOf(draft: Draft): string {
  if (draft.name.trim().replaceAll("/", "") === "") return "Give the device a name.";
  if (draft.driver === "sim") return "";
  if (draft.address.trim() === "") return "Give the address of the device, such as 192.168.1.20.";
  if (!isNumber(draft.unit, 255)) return "The unit is a number from 0 to 255.";
  for (const r of draft.registers) {
    if (r.name.trim() === "") return "Give each register a name.";
    if (!isNumber(r.address, 65_535)) {
      return `The address of ${r.name.trim()} is a number from 0 to 65535.`;
    }
  }
  return "";
}

const isNumber = (text: string, most: number) => /^\d+$/.test(text.trim()) && Number(text) <= most;

/** The path of a device: the site's name and its own. Slashes at the ends would make empty branches. */
export function pathOf(site: string, name: string): string {
  const trimmed = [site, name].map((s) => s.trim().replace(/^\/+|\/+$/g, ""));
  return trimmed.filter((s) => s !== "").join("/");
}
