import { dateTime, plain, plural } from "./format";
import type { Source } from "./generated/api";

const mostNamed = 3;

/** Says because of which nodes samples may be missing, and since when; "" if all gave what they have. */
export function missingOf(sources: readonly Source[] | undefined): string {
  const silent = (sources ?? []).filter((s) => s.state !== "stored" && s.state !== "asked");
  const told = silent.slice(0, mostNamed).map(sentence);
  const more = silent.length - told.length;
  if (more > 0) told.push(`Of ${plural(more, "more node")} samples may be missing, too.`);
  return told.join(" ");
}

/** Whether everything that descendants have is there. */
export const isWhole = (sources: readonly Source[] | undefined): boolean =>
  missingOf(sources) === "";

function sentence({ node, state, from, to }: Source): string {
  const begin = from ? `from ${dateTime(Date.parse(from))}` : "from the beginning";
  const end = to ? ` to ${dateTime(Date.parse(to))}` : " on";
  return `${plain(node)} ${words[state]}: ${begin}${end} samples may be missing.`;
}

const words: Record<Source["state"], string> = {
  stored: "has sent everything",
  asked: "has answered",
  unreachable: "is not connected",
  refused: "does not let all of it be read",
  late: "has not answered",
  failed: "could not answer",
};
