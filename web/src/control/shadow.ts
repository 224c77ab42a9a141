/** The point that records what another is commanded. */
export const commandsOf = (path: string) => `${prefix}${path}`;

const prefix = "control/";

/** What tells a point with commands apart from the one that they are for, which has the same name. */
export const shadowWords = (path: string) => (path.startsWith(prefix) ? "commanded " : "");
