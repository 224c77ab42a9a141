// The difference of two texts, line by line.

/** One line of a difference, with its number in the old and the new text, 0 where it is not. */
export interface DiffLine {
  kind: "same" | "added" | "removed";
  text: string;
  old: number;
  new: number;
}

/** A part of a difference: changed lines with a few that stay around them. */
export type Hunk = readonly DiffLine[];

/** Beyond so many changed lines the whole middle is told as replaced: nobody reads such a difference. */
const mostEdits = 1500;

/** The lines of both texts, in the shortest way from one to the other. */
export function diffLines(before: string, after: string): DiffLine[] {
  const a = before.split("\n");
  const b = after.split("\n");
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head++;
  let tail = 0;
  const room = Math.min(a.length, b.length) - head;
  while (tail < room && a[a.length - 1 - tail] === b[b.length - 1 - tail]) tail++;
  const middle = edits(a.slice(head, a.length - tail), b.slice(head, b.length - tail));
  const kinds = [
    ...Array.from({ length: head }, () => "same" as const),
    ...middle,
    ...Array.from({ length: tail }, () => "same" as const),
  ];
  let i = 0;
  let j = 0;
  return kinds.map((kind) => {
    const text = (kind === "added" ? b[j] : a[i]) ?? "";
    const old = kind === "added" ? 0 : ++i;
    const now = kind === "removed" ? 0 : ++j;
    return { kind, text, old, new: now };
  });
}

type Kind = DiffLine["kind"];

/**
 * The shortest list of steps from a to b: for each number of edits, the furthest point that can be
 * reached on each diagonal; then the way back.
 */
function edits(a: readonly string[], b: readonly string[]): Kind[] {
  const most = Math.min(mostEdits, a.length + b.length);
  const reached: Front[] = [];
  let front: Front = Int32Array.of(-1, -1, 0); // diagonals -1 to 1, before any edit
  for (let d = 0; d <= most; d++) {
    reached.push(front);
    const next: Front = new Int32Array(2 * d + 5).fill(-1);
    for (let k = -d; k <= d; k += 2) {
      const x = furthest(front, k, d, a, b);
      next[k + d + 2] = x;
      if (x >= a.length && x - k >= b.length) return wayBack(reached, a.length, b.length);
    }
    front = next;
  }
  return [...a.map(() => "removed" as const), ...b.map(() => "added" as const)];
}

/** The furthest points before edit d, by diagonal from -d-1 to d+1; -1 where there is none. */
type Front = Int32Array;

const at = (front: Front, k: number, d: number) => front[k + d + 1] ?? -1;

/** Whether the way to a diagonal comes down from the one above, and not from the left. */
const isDown = (front: Front, k: number, d: number) =>
  k === -d || (k !== d && at(front, k - 1, d) < at(front, k + 1, d));

function furthest(
  front: Front,
  k: number,
  d: number,
  a: readonly string[],
  b: readonly string[],
): number {
  let x = isDown(front, k, d) ? at(front, k + 1, d) : at(front, k - 1, d) + 1;
  while (x < a.length && x - k < b.length && a[x] === b[x - k]) x++;
  return x;
}

function wayBack(reached: readonly Front[], n: number, m: number): Kind[] {
  const steps: Kind[] = [];
  let x = n;
  let y = m;
  for (let d = reached.length - 1; d >= 0; d--) {
    const front = reached[d] ?? new Int32Array();
    const k = x - y;
    const down = isDown(front, k, d);
    const fromX = down ? at(front, k + 1, d) : at(front, k - 1, d);
    const fromY = fromX - (down ? k + 1 : k - 1);
    const startX = down ? fromX : fromX + 1;
    while (x > startX && x > 0 && y > 0) {
      steps.push("same");
      x--;
      y--;
    }
    if (d > 0) steps.push(down ? "added" : "removed");
    x = fromX;
    y = fromY;
  }
  return steps.reverse();
}

/** The changed parts of a difference, each with up to `around` lines that stay before and after. */
export function hunksOf(lines: readonly DiffLine[], around = 3): Hunk[] {
  const found: DiffLine[][] = [];
  let end = -1;
  lines.forEach((line, i) => {
    if (line.kind === "same") return;
    const from = Math.max(i - around, end);
    const to = Math.min(lines.length, i + around + 1);
    const open = found.at(-1);
    if (open && from <= end) open.push(...lines.slice(end, to));
    else found.push(lines.slice(Math.max(0, i - around), to));
    end = Math.max(end, to);
  });
  return found;
}
