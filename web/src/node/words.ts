// What is known of other nodes, in words.

import { dateTime, plain } from "../format";
import type { Child } from "../generated/api";
import type { Level } from "../health";

/** Where the points of a node may lie. */
export const placeWords = (prefix: string) =>
  prefix ? `Its points lie below ${plain(prefix)}` : "Its points may lie anywhere";

/** How something stands, in a few words. */
export interface Standing {
  level: Level;
  words: string;
}

const at = (time: string) => dateTime(Date.parse(time));

/** How a child node stands with this one, as far as its connection says. */
export function childStanding(c: Pick<Child, "state" | "online" | "expires">): Standing {
  switch (c.state) {
    case "pending":
      return { level: "warn", words: "waits for approval" };
    case "revoked":
      return { level: "bad", words: "shut out" };
    case "expired":
      return { level: "bad", words: `not used, expired ${c.expires ? at(c.expires) : ""}`.trim() };
    case "approved":
      if (c.expires) return { level: "wait", words: `not used yet, until ${at(c.expires)}` };
      return c.online
        ? { level: "good", words: "connected" }
        : { level: "bad", words: "not connected" };
    default:
      return { level: "wait", words: plain(String(c.state)) };
  }
}

/** What to do at a node that does not let itself be asked for something. */
export const allowWords = (node: string, capability: string) =>
  `The capability “${plain(capability)}” is missing. Whoever runs ${plain(node)} adds it to uplink.allow of its configuration, ` +
  "and so must nodes on the way; a reload is enough.";
