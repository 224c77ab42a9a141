// The fields of a driver's section, as the schema of the node tells them.

/** One setting of a driver. */
export interface Setting {
  key: string;
  /** What it is for, a sentence or two. */
  doc: string;
  /** How it is typed: as a text, a number, a choice of yes and no, a list of texts, a list of points, or JSON. */
  type: "text" | "number" | "truth" | "texts" | "points" | "json";
  /** What holds if it is left out, "" if nothing or unknown. */
  standard: string;
}

interface Property {
  type?: string;
  anyOf?: Property[];
  items?: Property;
  $ref?: string;
  default?: unknown;
  description?: string;
}

/** The settings of a schema, in its order. */
export function settingsOf(schema: unknown): Setting[] {
  const { properties = {} } = (schema ?? {}) as { properties?: Record<string, Property> };
  return Object.entries(properties).map(([key, p]) => ({
    key,
    doc: p.description ?? "",
    type: typeOf(key, p),
    standard: p.default === undefined ? "" : String(p.default),
  }));
}

function typeOf(key: string, p: Property): Setting["type"] {
  if (key === "registry") return "points";
  const first = p.type ?? p.anyOf?.[0]?.type;
  if (first === "boolean") return "truth";
  if (first === "integer" || first === "number") return "number";
  if (first === "array") return p.items?.type === "string" ? "texts" : "json";
  return p.$ref ? "json" : "text";
}

/** The settings that most devices of a driver need, which are asked for first. */
const foremost = new Set([
  "transport",
  "address",
  "outstation",
  "master",
  "unit",
  "endpoint",
  "user",
  "password_file",
  "registry",
  "points",
]);

/** Whether a setting is among those that few devices need. */
export const isSeldom = (s: Setting) => !foremost.has(s.key);

/** What a driver is told: only what was typed. A list of points that is empty asks the device for its own. */
export function sectionOf(
  settings: readonly Setting[],
  typed: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const section: Record<string, unknown> = {};
  for (const s of settings) {
    const text = (typed[s.key] ?? "").trim();
    if (text !== "") section[s.key] = typedValue(s, text);
    else if (s.type === "points") section[s.key] = [];
  }
  return section;
}

function typedValue(s: Setting, text: string): unknown {
  if (s.type === "number") return Number(text);
  if (s.type === "truth") return text === "true";
  if (s.type === "texts") return text.split(/[\s,]+/).filter((t) => t !== "");
  if (s.type === "json") return JSON.parse(text);
  return s.type === "points" ? `${text}\n` : text;
}

/** What keeps the settings from being sent, "" if nothing. */
export function settingsGap(
  settings: readonly Setting[],
  typed: Readonly<Record<string, string>>,
): string {
  for (const s of settings) {
    const text = (typed[s.key] ?? "").trim();
    if (text === "") continue;
    if (s.type === "number" && !Number.isFinite(Number(text))) return `${s.key} is a number.`;
    if (s.type === "json" && !isJson(text)) return `${s.key} is JSON, such as [{"name": "a"}].`;
  }
  return "";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
