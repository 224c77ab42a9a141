import { numeral } from "../language/number";
// What is typed about a device, and what becomes of it.

import { withOrder } from "./order";
import { type Setting, sectionOf, settingsGap } from "./schema";

/** A register of a Modbus device. */
export interface Register {
  name: string;
  table: string;
  address: string;
  type: string;
  unit: string;
  /** Of values of 32 and 64 bits; "" for the standard, ABCD. */
  byteOrder: string;
  /** The value is raw × scale + offset; "" for 1 and 0. */
  scale: string;
  offset: string;
  writable: boolean;
}

/** The first device as it is typed. */
export interface Draft {
  driver: string;
  name: string;
  interval: string;
  model: string;
  address: string;
  unit: string;
  /** How long a request may take, in seconds; "" for the standard, 1. */
  timeout: string;
  registers: readonly Register[];
  /** Whether the registers come from a list in the form of a CSV or YAML file. */
  fromList: boolean;
  /** The text of the list. */
  list: string;
  /** The order of the bytes of registers for which the list says none; "" for the standard, ABCD. */
  listOrder: string;
  /** Of BACnet: the node's own address on the network, "" for any, and the device's number, "" if its address tells. */
  local: string;
  instance: string;
  /** Of OPC UA: the URL of the server, and how it is spoken to, which the server offers. */
  endpoint: string;
  security: Security | undefined;
  /** Of a driver without a form of its own: its settings, and what was typed for them. */
  settings: readonly Setting[];
  typed: Readonly<Record<string, string>>;
}

/** A way to speak to an OPC UA server, as the driver is told. */
export interface Security {
  security: string;
  mode?: string;
  fingerprint?: string;
}

/** How long a list may be, in bytes: what is longer is better a file beside the configuration. */
export const maxList = 512 * 1024;

/** The tables of Modbus with the types that make sense in them. */
export const tables = ["holding", "input", "coil", "discrete"] as const;
export const types = ["int16", "uint16", "int32", "uint32", "float32", "int64", "float64"] as const;

/** The orders of the bytes of a value of 32 or 64 bits, A the most significant. */
export const byteOrders = [
  ["", "ABCD, the standard"],
  ["CDAB", "CDAB, words swapped"],
  ["BADC", "BADC, bytes swapped"],
  ["DCBA", "DCBA, both"],
] as const;

/** Whether a register holds a value of several words, which has an order. */
export const hasOrder = (r: Register) => !isBit(r) && /(32|64)$/.test(r.type);
/** Whether a register is a single bit. */
export const isBit = (r: Register) => r.table === "coil" || r.table === "discrete";
/** Whether the table lets a register be written. */
export const mayWrite = (r: Register) => r.table === "coil" || r.table === "holding";

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
  byteOrder: "",
  scale: "",
  offset: "",
  writable: false,
};

/** What the guide begins with: something that works without any hardware. */
export const firstDraft: Draft = {
  driver: "sim",
  name: "ahu1",
  interval: "1s",
  model: "ahu",
  address: "",
  unit: "1",
  timeout: "",
  registers: [{ ...noRegister, address: "0" }],
  fromList: false,
  list: "",
  listOrder: "",
  settings: [],
  typed: {},
  local: "",
  instance: "",
  endpoint: "",
  security: undefined,
};

/** What the driver is told. */
export function configOf(draft: Draft): Record<string, unknown> {
  if (draft.driver === "sim") return { model: draft.model };
  if (draft.driver === "bacnet") return bacnetOf(draft);
  if (draft.driver === "opcua")
    return { endpoint: draft.endpoint.trim(), ...draft.security, registry: [] };
  if (draft.driver !== "modbus") return sectionOf(draft.settings, draft.typed);
  return {
    ...reachOf(draft),
    ...(draft.fromList && draft.listOrder ? { byte_order: draft.listOrder } : {}),
    registry: draft.fromList ? listOf(draft.list) : draft.registers.map(rowOf),
  };
}

/** How a Modbus unit is reached, as the driver is told. */
export const reachOf = (draft: Draft): Record<string, unknown> => ({
  address: draft.address.trim(),
  unit: Number(draft.unit),
  ...(draft.timeout.trim() ? { timeout: `${numeral(draft.timeout)}s` } : {}),
});

/** What the driver bacnet is told: without points, so that a trial finds them. */
function bacnetOf(draft: Draft): Record<string, unknown> {
  const [local, address] = [draft.local.trim(), draft.address.trim()];
  return {
    ...(local ? { local } : {}),
    ...(draft.instance.trim() ? { device: Number(draft.instance) } : {}),
    ...(address ? { address } : {}),
    registry: [],
  };
}

/** The text of a list as the configuration holds it: the line breaks tell it from the name of a file. */
function listOf(text: string): string {
  const lines = text.replace(/^\uFEFF/, "").split(/\r\n|\r|\n/);
  return `${lines
    .map((line) => line.trimEnd())
    .join("\n")
    .trimEnd()}\n`;
}

function rowOf(r: Register): Record<string, unknown> {
  const [scale, offset] = isBit(r) ? ["", ""] : [r.scale.trim(), r.offset.trim()];
  return {
    name: r.name.trim(),
    table: r.table,
    address: Number(r.address),
    type: isBit(r) ? "bool" : r.type,
    ...(r.unit.trim() ? { unit: r.unit.trim() } : {}),
    ...(hasOrder(r) && r.byteOrder ? { byte_order: r.byteOrder } : {}),
    ...(scale ? { scale: numeral(scale) } : {}),
    ...(offset ? { offset: numeral(offset) } : {}),
    ...(mayWrite(r) && r.writable ? { writable: true } : {}),
  };
}

/** What keeps the draft from being tried, "" if nothing. */
export function gapOf(draft: Draft): string {
  if (draft.name.trim().replaceAll("/", "") === "") return "Give the device a name.";
  if (draft.driver === "sim") return "";
  if (draft.driver === "bacnet") return bacnetGap(draft);
  if (draft.driver === "opcua") return opcuaGap(draft);
  if (draft.driver !== "modbus") return settingsGap(draft.settings, draft.typed);
  const gap = reachGap(draft);
  if (gap) return gap;
  if (draft.fromList) return listGap(draft.list);
  for (const r of draft.registers) {
    const gap = registerGap(r);
    if (gap) return gap;
  }
  return "";
}

/** What keeps a Modbus unit from being reached, "" if nothing. */
export function reachGap(draft: Draft): string {
  if (draft.address.trim() === "") return "Give the address of the device, such as 192.168.1.20.";
  if (!isNumber(draft.unit, 255)) return "The unit is a number from 0 to 255.";
  if (!isAmount(draft.timeout, 0.001, 60)) return "The time-out is 0.001 to 60 seconds.";
  return "";
}

function bacnetGap(draft: Draft): string {
  const instance = draft.instance.trim();
  if (instance === "" && draft.address.trim() === "")
    return "Find devices and choose one, or give its instance.";
  if (instance !== "" && !isNumber(instance, 4_194_302))
    return "The instance is a number from 0 to 4194302.";
  return "";
}

function opcuaGap(draft: Draft): string {
  if (!/^opc\.tcp:\/\/[^/]/.test(draft.endpoint.trim()))
    return "Give the URL of the server, such as opc.tcp://10.0.0.20:4840.";
  return draft.security ? "" : "Ask the server, and choose how to speak to it.";
}

/** Whether the points of a device are found by a trial: its driver can, and no list is given. */
export function findsPoints(draft: Draft): boolean {
  if (draft.driver === "bacnet" || draft.driver === "opcua") return true;
  const list = draft.settings.find((s) => s.type === "points");
  return draft.driver === "dnp3" && list !== undefined && !draft.typed[list.key]?.trim();
}

/** The draft in which a register, or all of them if it is "", has another order of its bytes; undefined if only a person can say it in the list. */
export function reordered(
  draft: Draft,
  register: string,
  order: string,
): Partial<Draft> | undefined {
  const said = order === "ABCD" ? "" : order;
  if (!draft.fromList) {
    const isMeant = (r: Register) => hasOrder(r) && (register === "" || r.name.trim() === register);
    return {
      registers: draft.registers.map((r) => (isMeant(r) ? { ...r, byteOrder: said } : r)),
    };
  }
  if (register === "") return { listOrder: said };
  const list = withOrder(draft.list, register, order);
  return list === undefined ? undefined : { list };
}

function listGap(list: string): string {
  if (list.trim() === "") return "Choose the file of the list, or paste its text.";
  if (new TextEncoder().encode(list).length > maxList) {
    return "The list is longer than 512 KiB; split it, or name its file in the settings.";
  }
  return "";
}

function registerGap(r: Register): string {
  const name = r.name.trim();
  if (name === "") return "Give each register a name.";
  if (!isNumber(r.address, 65_535)) return `The address of ${name} is a number from 0 to 65535.`;
  if (isBit(r)) return "";
  if (!isAmount(r.scale) || numeral(r.scale || "1") === 0) {
    return `The scale of ${name} is a number other than 0.`;
  }
  if (!isAmount(r.offset)) return `The offset of ${name} is a number.`;
  return "";
}

/** Whether a text is a number within bounds, or nothing. */
function isAmount(text: string, least = -Infinity, most = Infinity): boolean {
  const n = numeral(text);
  return text.trim() === "" || (Number.isFinite(n) && n >= least && n <= most);
}

const isNumber = (text: string, most: number) => /^\d+$/.test(text.trim()) && Number(text) <= most;

/** The path of a device: the site's name and its own. Slashes at the ends would make empty branches. */
export function pathOf(site: string, name: string): string {
  const trimmed = [site, name].map((s) => s.trim().replace(/^\/+|\/+$/g, ""));
  return trimmed.filter((s) => s !== "").join("/");
}
