// What the stand-in answers about configuration documents: it keeps versions as a node does, and
// finds one kind of problem, a line that holds the word "nonsense".

import type { ConfigProblem, Document } from "../src/generated/api";
import { type Call, type Handlers, Refusal } from "./stand";

/** The documents of a stand-in. */
export class Shelf {
  private readonly kept: Document[] = [];
  /** Notes of the requests that brought a version back. */
  readonly broughtBack: number[] = [];

  /** Writes a version, as somebody would. */
  write(owner: string, name: string, text: string, more: Partial<Document> = {}): Document {
    const version = (this.newest(owner, name)?.version ?? 0) + 1;
    const at = new Date(Date.now() - 7_200_000 + this.kept.length * 600_000).toISOString();
    const common = { type: "yaml" as const, by: "person:ann", note: "", deleted: false };
    const written = { ...common, ...more, owner, name, text, version, at };
    this.kept.push(written);
    return written;
  }

  newest(owner: string, name: string): Document | undefined {
    return this.kept.findLast((d) => d.owner === owner && d.name === name);
  }

  readonly handlers: Handlers = {
    "GET documents": ({ query }) => ({ documents: this.list(query.get("owner")) }),
    "GET documents/text": (call) => this.read(call),
    "PUT documents/text": (call) => this.put(call),
    "DELETE documents/text": ({ query }) => {
      const { owner, name } = keyOf(query);
      this.write(owner, name, "", { deleted: true });
      return undefined;
    },
    "POST documents/check": ({ body }) => ({
      problems: problemsOf((body as { text: string }).text),
    }),
    "GET documents/history": ({ query }) => {
      const { owner, name } = keyOf(query);
      const all = this.kept.filter((d) => d.owner === owner && d.name === name);
      return { documents: all.reverse() };
    },
    "POST documents/rollback": ({ query, body }) => {
      const { owner, name } = keyOf(query);
      const { version } = body as { version: number };
      const old = this.kept.find(
        (d) => d.owner === owner && d.name === name && d.version === version,
      );
      if (!old) return new Refusal(404, "There is no such version", "not-found");
      this.broughtBack.push(version);
      return this.write(owner, name, old.text ?? "", { note: `version ${version} again` });
    },
  };

  private list(owner: string | null): Document[] {
    const newest = new Map(this.kept.map((d) => [`${d.owner}\0${d.name}`, d]));
    return [...newest.values()]
      .filter((d) => !d.deleted && (!owner || d.owner === owner))
      .sort((a, b) => `${a.owner} ${a.name}`.localeCompare(`${b.owner} ${b.name}`));
  }

  private read({ query }: Call) {
    const { owner, name } = keyOf(query);
    const version = Number(query.get("version"));
    const found = version
      ? this.kept.find((d) => d.owner === owner && d.name === name && d.version === version)
      : this.newest(owner, name);
    return found && !found.deleted
      ? found
      : new Refusal(404, "There is no such document", "not-found");
  }

  private put({ query, body }: Call) {
    const { owner, name } = keyOf(query);
    const { text, type, note, expect } = body as Document & { expect: number };
    const newest = this.newest(owner, name);
    const current = newest?.deleted ? 0 : (newest?.version ?? 0);
    if (expect !== current) return new Refusal(409, "Somebody else changed it", "conflict");
    return this.write(owner, name, text ?? "", { type, note, by: "person:admin" });
  }
}

const keyOf = (query: URLSearchParams) => ({
  owner: query.get("owner") ?? "",
  name: query.get("name") ?? "",
});

const problemsOf = (text: string): ConfigProblem[] =>
  text.split("\n").flatMap((line, i) => {
    const column = line.indexOf("nonsense") + 1;
    if (column === 0) return [];
    const detail = "limit: must be a number; write for example 80";
    return [{ file: "", line: i + 1, column, path: "limit", detail }];
  });

/** The settings of an agent. */
export const limits =
  "# Limits of the boilers\nlimit: 80\ninterval: 60\npoints: config://points.csv\n";

/** Documents of a site. */
export function shelf(): Shelf {
  const s = new Shelf();
  s.write("agent/boiler-watch", "config", limits.replace("80", "90"), { note: "first settings" });
  s.write("agent/boiler-watch", "config", limits.replace("80", "85"), { by: "person:bob" });
  s.write("agent/boiler-watch", "config", limits, { note: "summer" });
  s.write("agent/boiler-watch", "points.csv", "point,name\n", { type: "csv" });
  s.write("device/campus/b1/ahu1", "schedule", "monday: [7, 18]\n", { by: "person:bob" });
  s.write("shared", "holidays.json", "[]", { type: "json" });
  return s;
}
