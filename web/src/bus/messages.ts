import type { Message } from "./calls";

/** A message with a number, so that a list knows which one it is. */
export interface Shown extends Message {
  id: number;
}

const mostKept = 300;
/** Nobody reads more than this; a longer text is cut. */
const longestText = 20_000;

/** Keeps the newest messages. While it is held, new ones are only counted. */
export class Messages {
  /** The newest first. */
  list: readonly Shown[] = [];
  held = false;
  /** Messages that were not shown: by the node because they were too many, or here while held. */
  missed = 0;

  private next = 1;

  add(message: Message): void {
    if (this.held) {
      this.missed++;
      return;
    }
    this.list = [{ ...message, id: this.next++ }, ...this.list].slice(0, mostKept);
  }

  clear(): void {
    this.list = [];
    this.missed = 0;
  }
}

/** A text in lines if it is JSON, else as it is. */
export function pretty(text: string): string {
  const cut = text.length > longestText ? `${text.slice(0, longestText)} …` : text;
  try {
    return JSON.stringify(JSON.parse(cut), null, 2);
  } catch {
    return cut;
  }
}
