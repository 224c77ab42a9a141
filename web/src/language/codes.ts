// Short words of a node that people read: roles, priorities, severities, qualities, outcomes, and what meters report.

const codes: Record<string, string> = {
  viewer: "viewer",
  operator: "operator",
  engineer: "engineer",
  administrator: "administrator",
  critical: "critical",
  high: "high",
  medium: "medium",
  low: "low",
  warning: "warning",
  info: "info",
  information: "information",
  online: "online",
  offline: "offline",
  starting: "starting",
  disabled: "disabled",
  elsewhere: "elsewhere",
  hung: "hung",
  good: "good",
  uncertain: "uncertain",
  bad: "bad",
  running: "running",
  finished: "finished",
  stopped: "stopped",
  failed: "failed",
  member: "member",
  joining: "joining",
  leaving: "leaving",
  draining: "draining",
  drained: "drained",
  witness: "witness",
  raw: "raw",
  validated: "validated",
  estimated: "estimated",
  edited: "edited",
  other: "other",
  "last-gasp": "last gasp",
  restoration: "supply restored",
  tamper: "tampering",
  "reverse-flow": "reverse flow",
  "voltage-high": "voltage high",
  "voltage-low": "voltage low",
  "clock-set": "clock set",
  "battery-low": "battery low",
  "register-reset": "register reset",
  disconnected: "supply switched off",
  connected: "supply switched on",
  gap: "gap",
  "interval-size": "length of the interval",
  unit: "unit",
  multiplier: "multiplier",
  negative: "negative",
  spike: "spike",
  stuck: "stuck",
  sum: "sum check",
  "demand-tolerance": "demand tolerance",
  "historical-max": "above the highest so far",
  "rule-failed": "rule failed",
  ok: "ok",
  accepted: "accepted",
  pending: "pending",
  sent: "sent",
  repeated: "repeated",
  refused: "refused",
  missing: "missing",
  internal: "defect of the program",
  invalid: "invalid",
  "not-found": "not found",
  unreachable: "unreachable",
  timeout: "no answer in time",
  conflict: "conflict",
  unavailable: "not possible now",
  corrupt: "damaged",
  rejected: "rejected by the device",
  canceled: "canceled",
  collector: "collector",
  concentrator: "concentrator",
  store: "store",
  agents: "agents",
  child: "child",
};

/** A code of a node as a word; one that is not known as the node writes it. */
export const coded = (code: string) => (Object.hasOwn(codes, code) ? (codes[code] ?? code) : code);

const ranks: readonly string[] = [
  ...["viewer", "operator", "engineer", "administrator"],
  ...["critical", "high", "medium", "low"],
];

/** Whether a word in a sentence of a node is a role or a priority, and no name. */
export const isRank = (text: string) => ranks.includes(text);

/** Codes with commas between them as words. */
export const codesOf = (codes: string) => codes.split(",").map(coded).join(", ");

/** Marks a single word that people read, where nothing else tells that it is one. */
export const word = (english: string) => english;

/** A name in the middle of a sentence, in lower case where the language writes it so. */
export const inSentence = (name: string, language: string) =>
  language === "de" ? name : name.charAt(0).toLowerCase() + name.slice(1);
