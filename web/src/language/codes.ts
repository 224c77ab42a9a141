// Short words of a node that people read: roles, priorities, severities and qualities.

const codes: Record<string, string> = {
  viewer: "viewer",
  operator: "operator",
  engineer: "engineer",
  administrator: "administrator",
  critical: "critical",
  high: "high",
  medium: "medium",
  low: "low",
  warning: "warning",
  info: "info",
  information: "information",
  online: "online",
  offline: "offline",
  starting: "starting",
  disabled: "disabled",
  elsewhere: "elsewhere",
  hung: "hung",
  good: "good",
  uncertain: "uncertain",
  bad: "bad",
};

/** A code of a node as a word; one that is not known as the node writes it. */
export const coded = (code: string) => (Object.hasOwn(codes, code) ? (codes[code] ?? code) : code);

/** Marks a single word that people read, where nothing else tells that it is one. */
export const word = (english: string) => english;

/** A name in the middle of a sentence, in lower case where the language writes it so. */
export const inSentence = (name: string, language: string) =>
  language === "de" ? name : name.charAt(0).toLowerCase() + name.slice(1);
