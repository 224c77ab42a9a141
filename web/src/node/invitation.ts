// An invitation as it is typed, and as it is told.

import { dateTime, plain, span } from "../format";
import type { Grants, Invitation } from "../generated/api";
import type { NewInvitation } from "./calls";

/** What was typed. */
export interface Draft {
  name: string;
  prefix: string;
  /** How long it holds, in milliseconds. */
  lasts: string;
  approved: boolean;
  /** Addresses with spaces or commas between them; "" for those that the node knows. */
  addresses: string;
}

const hour = 3_600_000;

/** The spans to choose from. */
export const spans = [
  { label: "an hour", ms: hour },
  { label: "a day", ms: 24 * hour },
  { label: "a week", ms: 7 * 24 * hour },
  { label: "30 days", ms: 30 * 24 * hour },
] as const;

export const emptyDraft: Draft = {
  name: "",
  prefix: "",
  lasts: String(24 * hour),
  approved: false,
  addresses: "",
};

/** The invitation that was typed, or what is wrong with it. now is the node's time. */
export function invitationOf(
  draft: Draft,
  grants: Grants,
  now: number,
): { wanted: NewInvitation } | { problem: string } {
  const name = draft.name.trim();
  const prefix = draft.prefix.trim();
  if (name && !/^[A-Za-z0-9][A-Za-z0-9_-]*$/.test(name)) {
    return { problem: "A name is of letters, digits, - and _, and begins with a letter or digit." };
  }
  if (/^\/|\/$|\/\/|\*/.test(prefix)) {
    return { problem: "Write the place as a path without *, such as campus/b1." };
  }
  const addresses = draft.addresses.split(/[\s,]+/).filter((a) => a !== "");
  const lacking = addresses.find((a) => !/:\d+$/.test(a));
  if (lacking) return { problem: `Write ${lacking} with its port, such as ${lacking}:4222.` };
  return {
    wanted: {
      ...(name ? { name } : {}),
      ...(prefix ? { prefix } : {}),
      ...(Object.keys(grants).length > 0 ? { grants } : {}),
      ...(addresses.length > 0 ? { addresses } : {}),
      approved: draft.approved,
      expires: new Date(now + Number(draft.lasts)).toISOString(),
    },
  };
}

/** All that both grant. */
export function mergeGrants(a: Grants, b: Grants): Grants {
  const out: Record<string, unknown> = { ...a };
  for (const [kind, list] of Object.entries(b)) {
    const old = out[kind];
    out[kind] = Array.isArray(old) && Array.isArray(list) ? [...old, ...list] : list;
  }
  return out;
}

/** What became of an invitation, or how long it holds. */
export function stateWords(i: Invitation, now: number): string {
  if (i.state === "open") return `open for ${span(Math.max(0, Date.parse(i.expires) - now))} more`;
  if (i.state === "used") {
    const when = i.used ? `, ${dateTime(Date.parse(i.used))}` : "";
    return `used by ${plain(i.used_by)}${when}`;
  }
  return i.state === "expired" ? `expired ${dateTime(Date.parse(i.expires))}` : plain(i.state);
}
