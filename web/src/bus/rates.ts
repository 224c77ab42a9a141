// Rates of subjects as a tree, with what they were in the last minute.

import type { BusRates } from "./calls";

const remembered = 60;
const mostSubjects = 5000;
/** A subject that was silent for so many seconds is forgotten. */
const forgotten = 120;

/** What goes over a subject, or over all that begin with it. */
export interface Flow {
  subject: string;
  /** The part of its name behind its parent's. */
  name: string;
  /** From 0. */
  level: number;
  /** A second, now. */
  messages: number;
  bytes: number;
  /** Messages in each of the last seconds, the oldest first. */
  past: readonly number[];
  /** How many subjects stand directly below. */
  children: number;
}

interface Kept {
  past: number[];
  bytes: number;
  silent: number;
}

/** Keeps the rates of each subject for a minute. */
export class Rates {
  private readonly kept = new Map<string, Kept>();
  /** Subjects that were too many to keep. */
  left = 0;

  /** Takes over what went over the subjects in some seconds, which is about one. */
  add({ subjects, seconds, more }: Pick<BusRates, "subjects" | "seconds" | "more">): void {
    this.left = more;
    const share = 1 / (seconds > 0 ? seconds : 1);
    const rates = (subjects ?? []).map((r) => ({
      subject: r.subject,
      messages: r.messages * share,
      bytes: r.bytes * share,
    }));
    const now = new Map(rates.map((r) => [r.subject, r]));
    for (const subject of now.keys()) {
      if (this.kept.has(subject)) continue;
      if (this.kept.size >= mostSubjects) this.left++;
      else this.kept.set(subject, { past: [], bytes: 0, silent: 0 });
    }
    for (const [subject, kept] of this.kept) {
      const rate = now.get(subject);
      kept.past.push(rate?.messages ?? 0);
      if (kept.past.length > remembered) kept.past.shift();
      kept.bytes = rate?.bytes ?? 0;
      kept.silent = rate ? 0 : kept.silent + 1;
      if (kept.silent > forgotten) this.kept.delete(subject);
    }
  }

  /** The sum of all subjects. */
  total(): { messages: number; bytes: number; past: number[] } {
    const all = [...this.kept.values()];
    const past = sumOf(all.map((k) => k.past));
    return { messages: past.at(-1) ?? 0, bytes: all.reduce((n, k) => n + k.bytes, 0), past };
  }

  /** The lines of the tree that are visible: those whose parents are open, the busiest first. */
  lines(isOpen: (subject: string) => boolean): Flow[] {
    const tree = grow(this.kept);
    const found: Flow[] = [];
    const walk = (node: Node, level: number) => {
      const children = [...node.children.values()].map((child) => ({
        child,
        flow: flowOf(child, level),
      }));
      children.sort(
        (a, b) => weight(b.flow) - weight(a.flow) || (a.flow.subject < b.flow.subject ? -1 : 1),
      );
      for (const { child, flow } of children) {
        found.push(flow);
        if (child.children.size > 0 && isOpen(flow.subject)) walk(child, level + 1);
      }
    };
    walk(tree, 0);
    return found;
  }
}

interface Node {
  subject: string;
  name: string;
  own: Kept[];
  children: Map<string, Node>;
}

function grow(kept: ReadonlyMap<string, Kept>): Node {
  const root: Node = { subject: "", name: "", own: [], children: new Map() };
  for (const [subject, one] of kept) {
    let at = root;
    for (const name of subject.split(".")) {
      let next = at.children.get(name);
      if (!next) {
        const path = at === root ? name : `${at.subject}.${name}`;
        next = { subject: path, name, own: [], children: new Map() };
        at.children.set(name, next);
      }
      next.own.push(one);
      at = next;
    }
  }
  return root;
}

function flowOf(node: Node, level: number): Flow {
  const past = sumOf(node.own.map((k) => k.past));
  return {
    subject: node.subject,
    name: node.name,
    level,
    messages: past.at(-1) ?? 0,
    bytes: node.own.reduce((n, k) => n + k.bytes, 0),
    past,
    children: node.children.size,
  };
}

/** What is busy now or was in the last minute stands above. */
const weight = (flow: Flow) => flow.past.reduce((a, b) => a + b, 0);

/** The sums of lists that end at the same second. */
function sumOf(lists: readonly (readonly number[])[]): number[] {
  const length = Math.max(0, ...lists.map((l) => l.length));
  const sum = new Array<number>(length).fill(0);
  for (const list of lists) {
    const shift = length - list.length;
    list.forEach((n, i) => {
      sum[i + shift] = (sum[i + shift] ?? 0) + n;
    });
  }
  return sum;
}
