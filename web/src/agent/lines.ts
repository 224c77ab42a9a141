import type { ProcessLine } from "../generated/api";
import type { Level } from "../health";

/** A line of the log of an agent, or of a node. */
export type Line = Pick<ProcessLine, "time" | "level" | "message" | "extra"> &
  Partial<Pick<ProcessLine, "stream" | "logger">>;

/** A line with a number, so that a list knows which one it is. */
export interface Shown extends Line {
  id: number;
}

/** The levels of a log, the least important first. */
export const levels = ["debug", "info", "warning", "error", "critical"] as const;

const mostKept = 500;

/** Keeps the newest lines of a log. While it is held, new ones are only counted. */
export class Lines {
  /** The newest first. */
  list: readonly Shown[] = [];
  held = false;
  /** Lines that came while it was held. */
  missed = 0;
  /** Lines that came faster than they could be sent, as the node says. */
  lost = 0;

  private waiting: Shown[] = [];
  private next = 1;

  /** Takes a line; take shows it. */
  add(line: Line): void {
    if (this.held) {
      this.missed++;
      return;
    }
    this.waiting.push({ ...line, id: this.next++ });
    if (this.waiting.length > mostKept) this.waiting.shift();
  }

  /** Puts what came into the list. */
  take(): void {
    if (this.waiting.length === 0) return;
    this.list = [...this.waiting.reverse(), ...this.list].slice(0, mostKept);
    this.waiting = [];
  }

  /** Begins anew. */
  clear(): void {
    this.list = [];
    this.waiting = [];
    this.missed = 0;
    this.lost = 0;
  }
}

/** How bad a line is. */
export const levelOf = ({ level }: Pick<Line, "level">): Level =>
  level === "error" || level === "critical" ? "bad" : level === "warning" ? "warn" : "wait";
