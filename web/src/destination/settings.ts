// The settings of a destination, as a form has them and as the configuration has them.

import type { SinkForm } from "../generated/api";

/** What stands in the fields of a form, by key. */
export type Draft = Readonly<Record<string, string>>;

/** The texts of files that are kept beside the configuration, by the key that names the file. */
export const secretNames: Readonly<Record<string, string>> = {
  password_file: "password",
  ca: "ca",
  certificate: "certificate",
  key: "key",
};

/** What a field is called. */
export function labelOf(key: string, form: SinkForm): string {
  if (key === "into") return form.into;
  const known: Record<string, string> = {
    url: "Address",
    user: "User",
    password_file: "Password or token",
    ca: "Authority of its certificate",
    certificate: "Certificate of this node",
    key: "Key of the certificate",
    points: "Points",
    except: "Points left out",
    names: "What a point is called",
    tags: "Tags",
    units: "Units converted",
    batch: "Readings in a request",
    every: "How long readings wait",
    from: "History since",
  };
  return Object.hasOwn(known, key) ? (known[key] ?? key) : key;
}

/** Fields that most people leave as they are. */
export const isFurther = (key: string) =>
  !["url", "user", "password_file", "into", "points", "from"].includes(key);

/** The fields of settings: a list has a line for each entry, a map a line "name: text". */
export function draftOf(settings: Record<string, unknown>, form: SinkForm): Draft {
  const draft: Record<string, string> = {};
  for (const { key, type } of form.fields) {
    const value = settings[key];
    if (value === undefined || value === null || type === "file") continue;
    if (Array.isArray(value)) draft[key] = value.join("\n");
    else if (typeof value === "object")
      draft[key] = Object.entries(value)
        .map(([name, text]) => `${name}: ${text}`)
        .join("\n");
    else draft[key] = String(value);
  }
  return draft;
}

/** The settings that a form means. Throws an Error that says which line is wrong. */
export function settingsOf(kind: string, draft: Draft, form: SinkForm): Record<string, unknown> {
  const settings: Record<string, unknown> = { kind };
  for (const { key, type } of form.fields) {
    const text = (draft[key] ?? "").trim();
    if (text === "" || type === "file") continue;
    settings[key] = meaningOf(text, type, labelOf(key, form));
  }
  return settings;
}

function meaningOf(text: string, type: string, label: string): unknown {
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  switch (type) {
    case "list":
      return lines;
    case "map":
      return Object.fromEntries(lines.map((line) => pairOf(line, label)));
    case "number":
      if (!/^\d+$/.test(text)) throw new Error(`${label}: “${text}” is not a number.`);
      return Number(text);
  }
  return text;
}

function pairOf(line: string, label: string): [string, string] {
  const at = line.indexOf(":");
  if (at < 1) throw new Error(`${label}: write “${line}” as name: text.`);
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

/** The request of a form: settings, and the secrets that were typed. */
export function requestOf(kind: string, draft: Draft, form: SinkForm): Record<string, unknown> {
  const request: Record<string, unknown> = { settings: settingsOf(kind, draft, form) };
  for (const { key, type } of form.fields) {
    const name = secretNames[key];
    if (type === "file" && name && draft[key]) request[name] = draft[key];
  }
  return request;
}
