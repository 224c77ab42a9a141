import { inSentence } from "../language/codes";
import { language } from "../language/words";
import { includes, type Role } from "../shell/role";

/** How many levels a priority array has. */
export const mostLevels = 16;

/** The level of a person by hand. */
export const byHand = 8;

/** Commands up to this level go past reservations and rates. */
export const emergency = 2;

/** Commands up to this level go past minimum times; the next level is kept for those. */
export const protection = 5;

/** BACnet's names of the levels that have one. */
const names: Record<number, string> = {
  1: "Manual life safety",
  2: "Automatic life safety",
  5: "Critical equipment control",
  6: "Minimum on and off times",
  8: "Manual operator",
};

/** What BACnet calls a level; "" if it leaves it to the site. */
export const levelName = (level: number) => names[level] ?? "";

/** A level with its name: "8, manual operator". */
export function levelWords(level: number): string {
  const name = levelName(level);
  return name === "" ? String(level) : `${level}, ${inSentence(name, language)}`;
}

/** The role that a command of a level needs. */
export function roleFor(level: number): Role {
  if (level >= byHand) return "operator";
  return level >= 5 ? "engineer" : "administrator";
}

/** Whether somebody may command at a level. */
export const mayUse = (role: string, level: number) => includes(role, roleFor(level));

/** All levels, the most urgent first. */
export const levels: readonly number[] = Array.from({ length: mostLevels }, (_, i) => i + 1);
