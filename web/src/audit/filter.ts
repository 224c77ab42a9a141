// What the audit screen shows, as the query of its address, so that a link reproduces it.

/** Which entries are wanted; "" does not matter. */
export interface Filter {
  /** A pattern, as the others that follow: `person:*`. */
  actor: string;
  action: string;
  subject: string;
  /** Anywhere in the entry. */
  text: string;
  /** A time, or how long ago: "-7d". */
  from: string;
  to: string;
  /** The number behind the last entry of the page; 0 for the newest page. */
  before: number;
}

const texts = ["actor", "action", "subject", "text", "from", "to"] as const;

/** The filter that selects everything. */
export const everything: Filter = {
  actor: "",
  action: "",
  subject: "",
  text: "",
  from: "",
  to: "",
  before: 0,
};

/** Reads an address's query. */
export function parseFilter(search: string): Filter {
  const params = new URLSearchParams(search);
  const found = { ...everything };
  for (const name of texts) found[name] = (params.get(name) ?? "").trim();
  const before = Number(params.get("before"));
  found.before = Number.isSafeInteger(before) && before > 0 ? before : 0;
  return found;
}

/** What the node is asked, without the page: only what matters. */
export function queryOf(filter: Filter): Record<string, string> {
  const query: Record<string, string> = {};
  for (const name of texts) if (filter[name] !== "") query[name] = filter[name];
  return query;
}

/** The inverse of parseFilter, as an address of the screen. */
export function auditAddress(filter: Filter): string {
  const params = new URLSearchParams(queryOf(filter));
  if (filter.before > 0) params.set("before", String(filter.before));
  const text = params.toString();
  return text ? `/audit?${text}` : "/audit";
}

/** The spans to choose from: how they are called, and their `from`. */
export const spans = [
  { label: "Any time", from: "" },
  { label: "Last hour", from: "-1h" },
  { label: "Last 24 hours", from: "-24h" },
  { label: "Last 7 days", from: "-7d" },
  { label: "Last 30 days", from: "-30d" },
] as const;

/** The `from` of the span that a filter selects; undefined if it lies between two times. */
export const spanOf = (filter: Filter): string | undefined =>
  filter.to === "" ? spans.find((s) => s.from === filter.from)?.from : undefined;

/** A time for a field of date and time, in this browser's zone; "" if it is none. */
export function toField(time: string): string {
  const ms = Date.parse(time);
  if (Number.isNaN(ms)) return "";
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** The inverse of toField. */
export function fromField(text: string): string {
  const ms = Date.parse(text);
  return Number.isNaN(ms) ? "" : new Date(ms).toISOString();
}
