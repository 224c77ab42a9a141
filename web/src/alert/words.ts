import { count } from "../format";
import type { Alert } from "../generated/api";
import type { Level } from "../health";

const levels: Record<string, Level> = { critical: "bad", warning: "warn", info: "wait" };

/** How bad an alert is; one of a kind that is not known is taken seriously. */
export const levelOf = (alert: Pick<Alert, "severity">): Level =>
  Object.hasOwn(levels, alert.severity) ? (levels[alert.severity] ?? "bad") : "bad";

/** How bad the worst is. */
export function worst(alerts: readonly Pick<Alert, "severity">[]): Level {
  const found = alerts.map(levelOf);
  return found.includes("bad") ? "bad" : found.includes("warn") ? "warn" : "wait";
}

/** "1 open alert", "3 open alerts". */
export const openWords = (n: number) => `${count(n)} open alert${n === 1 ? "" : "s"}`;
