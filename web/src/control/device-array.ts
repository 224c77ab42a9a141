import type { ControlPoint, Priorities } from "../generated/api";
import { inSentence } from "../language/codes";
import { language } from "../language/words";
import { levelName, levels } from "./levels";
import { withUnit } from "./words";

/** Who commands a level in the device. */
type From = "this node" | "another system" | "nobody";

/** A level of the priority array in the device. */
export interface DeviceLevel {
  level: number;
  /** The value with its unit; "" at a level that nobody uses. */
  value: string;
  from: From;
  /** The device follows this level. */
  wins: boolean;
}

/** The sixteen levels as the device has them. */
export function deviceLevels(point: ControlPoint, device: Priorities): DeviceLevel[] {
  const winner = device.levels[0]?.level;
  return levels.map((level) => {
    const used = device.levels.find((p) => p.level === level);
    if (!used) return { level, value: "", from: "nobody", wins: false };
    const from = level === device.own ? "this node" : "another system";
    return { level, value: withUnit(used.value, point.unit), from, wins: level === winner };
  });
}

/** The relinquish default of the device; "" if it does not tell. */
export const standardOf = (point: ControlPoint, device: Priorities) =>
  device.default === null ? "" : withUnit(device.default, point.unit);

const named = (level: number) => {
  const name = levelName(level);
  return name === "" ? `level ${level}` : `level ${level} (${inSentence(name, language)})`;
};

/** What the device follows, and why it is not what the node commands. */
export function deviceWords(point: ControlPoint, device: Priorities): string {
  const all = deviceLevels(point, device);
  const winner = all.find((l) => l.wins);
  const own = all.find((l) => l.level === device.own);
  if (device.own > 0 && own?.value === "") {
    return `The device has nothing at ${named(device.own)}, where this node commands it: somebody relinquished it there.`;
  }
  if (!winner) {
    const standard = standardOf(point, device);
    return `No system commands it in the device, which follows its relinquish default${standard && `, ${standard}`}.`;
  }
  if (winner.from === "this node")
    return `The device follows this node, at ${named(winner.level)}.`;
  const before = own ? `, before ${named(own.level)} of this node` : "";
  return `The device follows another system, at ${named(winner.level)}${before}.`;
}
