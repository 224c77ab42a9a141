// Who owns a document: an agent, a device, or nobody in particular.

import type { Document } from "../generated/api";

/** Documents of one owner. */
export interface Group {
  owner: string;
  documents: Document[];
}

/** An owner in words: "Agent boiler", "Device campus/b1", "Shared". */
export function ownerWords(owner: string): string {
  if (owner === "shared") return "Shared";
  const cut = owner.indexOf("/");
  if (cut < 0) return owner;
  const kind = owner.slice(0, cut);
  const rest = owner.slice(cut + 1);
  const kinds: Record<string, string> = {
    agent: "Agent",
    device: "Device",
    person: "Person",
    token: "Token",
  };
  return Object.hasOwn(kinds, kind) ? `${kinds[kind]} ${rest}` : owner;
}

/** The documents by owner, of those whose owner or name has all words. */
export function groupsOf(documents: readonly Document[], search: string): Group[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const groups = new Map<string, Document[]>();
  for (const d of documents) {
    const text = `${d.owner} ${d.name}`.toLowerCase();
    if (!words.every((w) => text.includes(w))) continue;
    const group = groups.get(d.owner);
    if (group) group.push(d);
    else groups.set(d.owner, [d]);
  }
  return [...groups].map(([owner, list]) => ({ owner, documents: list }));
}

/** The type that the ending of a name suggests, or else the one that was chosen. */
export function typeFor(name: string, otherwise: Document["type"]): Document["type"] {
  const ending = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const known: Record<string, Document["type"]> = {
    yaml: "yaml",
    yml: "yaml",
    json: "json",
    csv: "csv",
    txt: "text",
  };
  return Object.hasOwn(known, ending) ? (known[ending] ?? otherwise) : otherwise;
}
