import { count, plain } from "../format";
import type { LiveFlow, LiveWithheld } from "../generated/api";

/** How many subjects are shown by name. */
const named = 3;

/** What is wanted in one direction of a link. */
export const wantedWords = ({ wanted, subjects }: Pick<LiveFlow, "wanted" | "subjects">) =>
  wanted === 0
    ? "nobody listens"
    : subjects.slice(0, named).map(plain).join(", ") +
      (wanted > named ? ` and ${count(wanted - named)} more` : "");

/** What does not come although it is wanted, and what would let it. */
export const withheldWords = ({ subject, node, part, allow }: LiveWithheld) =>
  `${plain(subject)} ${part ? "comes in part only" : "does not come"}: ${plain(node)} does not let it go up live. Add "${plain(allow)}" to its uplink.allow.`;
