// How this node stands with its parent: a sentence, and what to do.

import { dateTime, plain, plural, span } from "../format";
import type { Parent, Uplink } from "../generated/api";
import type { Level } from "../health";
import { reasonOf } from "../language/said";

/** How it stands. */
export interface Above {
  level: Level;
  text: string;
  /** What to do about it, "" for nothing. */
  advice: string;
}

/** The standing of a child. now is the node's time in milliseconds. */
export function aboveOf(p: Parent, now: number): Above {
  const name = plain(p.parent) || "the parent";
  if (p.state === "pending") {
    return {
      level: "warn",
      text: `${name} has not let this node in yet.`,
      advice:
        "Somebody approves it there, on its screen Nodes or by voltbus children approve, after comparing the fingerprint below. Until then readings wait in the log here.",
    };
  }
  if (p.state === "expired") {
    return {
      level: "bad",
      text: `${name} does not let this node in${p.why ? `: ${reasonOf(p.why)}` : "."}`,
      advice:
        "Nothing has to be done here: it is asked again and again, and readings wait in the log here until then.",
    };
  }
  if (p.state === "revoked") {
    return {
      level: "bad",
      text: `${name} shut this node out${p.why ? `: ${reasonOf(p.why)}` : "."}`,
      advice:
        "Nothing is sent any more; what was recorded stays in the log here as long as it has room. If it is a mistake, have it approved again there; else leave, and join with a new code.",
    };
  }
  return p.uplink
    ? linkOf(p.uplink, name, now)
    : {
        level: "wait",
        text: `${name} let this node in; the connection is not made yet.`,
        advice: "",
      };
}

function linkOf(u: Uplink, name: string, now: number): Above {
  const since = u.since ? ` since ${dateTime(Date.parse(u.since))}` : "";
  if (u.state === "refused") {
    return {
      level: "bad",
      text: `${name} refuses this node${since}: ${reasonOf(u.reason)}`,
      advice:
        "It is asked again from time to time. Nothing is lost: readings wait in the log here.",
    };
  }
  if (u.state !== "connected") {
    return {
      level: "warn",
      text: `No connection to ${name}${since}${u.reason ? `: ${reasonOf(u.reason)}` : "."}`,
      advice:
        "It is tried again by itself. Nothing is lost meanwhile: readings wait in the log here, and go up when it is back.",
    };
  }
  const halted = u.origins.filter((o) => o.reason !== "");
  const [first] = halted;
  if (first) {
    const more = halted.length > 1 ? ` (and ${plural(halted.length - 1, "more origin")})` : "";
    return {
      level: "bad",
      text: `${name} does not take what ${plain(first.origin)} recorded${more}: ${reasonOf(first.reason)}`,
      advice:
        "It waits in the log here and goes on by itself when the right is given there, or the configuration here is changed.",
    };
  }
  const behind = behindOf(u, now);
  if (u.waiting > 0 && behind > calm) {
    return {
      level: "wait",
      text: `Connected to ${name}, and catching up: ${plural(u.waiting, "block")} wait, the oldest is ${span(behind)} old.`,
      advice: "",
    };
  }
  return {
    level: "good",
    text: `Connected to ${name}${since}; it has all but what is just under way.`,
    advice: "",
  };
}

/** Below this age in milliseconds what waits is under way, and no backlog. */
const calm = 5000;

/** The age in milliseconds of the oldest block that the parent has not acknowledged; 0 if there is none. */
export function behindOf(u: Uplink, now: number): number {
  const oldest = u.lanes.map((l) => (l.oldest ? Date.parse(l.oldest) : now));
  return Math.max(0, now - Math.min(now, ...oldest));
}

/** The difference of two clocks in words, "" if nobody would notice it. */
export function clockWords(offsetMs: number): string {
  if (Math.abs(offsetMs) < 1000) return "the clocks agree";
  const than = offsetMs > 0 ? "ahead of" : "behind";
  return `its clock is ${span(Math.abs(offsetMs))} ${than} the one here`;
}
