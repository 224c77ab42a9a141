import { plain } from "../format";
import type { Concern } from "../generated/api";
import { adviceFor, type Level } from "../health";
import { said } from "../language/said";

/** Something that is wrong, what to do about it, and where to look. */
export interface Trouble {
  level: Level;
  title: string;
  advice: string;
  address: string;
}

/** What the node says is not well, as it stands there, with what to do about devices. */
export const troubles = (concerns: readonly Concern[]): Trouble[] =>
  concerns.map((c) => ({
    level: c.severity === "critical" ? "bad" : "warn",
    title: plain(said(c.sentence)),
    advice: c.kind ? adviceFor(c.kind) : "",
    address: c.link.startsWith("/") && !c.link.startsWith("//") ? c.link : "/",
  }));
