// A configuration that is pushed to another node: it is on trial there until the node is reached with it.

import { type Api, Problem } from "../api";
import { plain } from "../format";
import { type Applied, confirmConfig, pushConfig, readConfig } from "../settings/config";

/** How a trial goes. */
export interface Trial {
  /** sent: it is on its way or applied; lost: the node is not reached; reached: it is, and can be told to keep it. */
  is: "sent" | "lost" | "reached";
  /** When the node goes back, in milliseconds; about, since it counts itself. */
  until: number;
  /** Of the text on trial; "" while it is not known. */
  version: string;
}

/** What a push needs. */
export interface Pushing {
  far: Api;
  node: string;
  text: string;
  /** The version that it was made from. */
  version: string;
  /** Seconds within which the node must be reached. */
  bound: number;
  signal: AbortSignal;
  told(trial: Trial): void;
  /** Whether somebody let the new text stay. */
  isKept(): boolean;
}

const again = 2000;
/** The node may go back so much later than is counted here. */
const grace = 8000;

/** Pushes a text, and follows it to the end: it rejects with words if the node has the text of before. */
export async function push(p: Pushing): Promise<Applied> {
  const until = Date.now() + p.bound * 1000;
  p.told({ is: "sent", until, version: "" });
  try {
    return await pushConfig(p.far, p.text, p.version, p.bound);
  } catch (err) {
    if (!isLost(err)) throw err;
  }
  p.told({ is: "lost", until, version: "" });
  return follow(p, until);
}

/**
 * Whether an error leaves open what the node runs by. One that takes from this node the right to confirm has
 * cut itself off as much as one that is not reached.
 */
const isLost = (err: unknown) =>
  err instanceof TypeError ||
  (err instanceof Problem &&
    (["unreachable", "timeout", "unavailable"].includes(err.kind) ||
      err.missing === "call node:config.confirm"));

async function follow(p: Pushing, until: number): Promise<Applied> {
  while (!p.signal.aborted) {
    const now = await readConfig(p.far).catch(() => undefined);
    if (now && now.text !== p.text) throw new Error(backWords(p.node));
    if (now && (p.isKept() || Date.now() > until + grace))
      return { version: now.version, changes: none };
    p.told({ is: now ? "reached" : "lost", until, version: now?.version ?? "" });
    await new Promise((done) => setTimeout(done, again));
  }
  throw new Error("Nobody waits for the end of the trial any more.");
}

const none = { added: [], removed: [], changed: [], restart: [], words: [] };

/** What to tell of a node that has the configuration of before. */
const backWords = (node: string) =>
  `${plain(node)} has the configuration from before: contact was lost, nobody confirmed the new one, and it went back by itself. ` +
  "What you wrote stands below; change what cut it off, and push again.";

/** Lets the text stay that is on trial. */
export const keep = (far: Api, trial: Trial) => confirmConfig(far, trial.version);

/** How a trial stands, in words. now is in milliseconds. */
export function trialWords(node: string, t: Trial, now: number): string {
  const name = plain(node);
  const left = Math.ceil((t.until - now) / 1000);
  const back =
    left > 0 ? `goes back by itself in ${left} s` : "should be back at the configuration before";
  if (t.is === "sent")
    return `On trial at ${name}. It keeps the new configuration as soon as this node reaches it with it; otherwise it ${back}.`;
  if (t.is === "lost")
    return `No contact with ${name} since the push. If that stays so, it ${back}; here is shown what it runs by when it answers.`;
  return `${name} answers, with the new configuration on trial. Keep it, or it ${back}.`;
}
