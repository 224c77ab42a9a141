// Where tiles stand: rectangles on a grid of twelve columns that never overlap. Nothing here draws.

/** A rectangle in columns and rows. */
export interface Box {
  x: number;
  y: number;
  w: number;
  h: number;
}

export const columns = 12;
const mostHigh = 40;
const mostRows = 1000;

export const overlaps = (a: Box, b: Box) =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

/** The box within the grid that is nearest to one. */
export function clamped(box: Box): Box {
  const w = Math.min(columns, Math.max(1, Math.round(box.w)));
  const h = Math.min(mostHigh, Math.max(1, Math.round(box.h)));
  const x = Math.min(columns - w, Math.max(0, Math.round(box.x)));
  const y = Math.min(mostRows, Math.max(0, Math.round(box.y)));
  return { x, y, w, h };
}

/** Puts one box somewhere; the others that are in its way go down, no further than they must. */
export function placed<T extends Box>(boxes: readonly T[], index: number, to: Box): T[] {
  const moved = boxes.map((b, i) => (i === index ? { ...b, ...clamped(to) } : b));
  const first = moved[index];
  if (!first) return moved;
  const settled: T[] = [first];
  const rest = moved
    .map((box, i) => ({ box, i }))
    .filter(({ i }) => i !== index)
    .sort((a, b) => a.box.y - b.box.y || a.box.x - b.box.x);
  for (const { box, i } of rest) {
    const free = { ...box, y: freeFrom(settled, box) };
    settled.push(free);
    moved[i] = free;
  }
  return moved;
}

/** The first row from that of a box on in which it has room. */
function freeFrom(settled: readonly Box[], box: Box): number {
  let y = box.y;
  for (;;) {
    const inTheWay = settled.filter((s) => overlaps(s, { ...box, y }));
    if (inTheWay.length === 0) return y;
    y = Math.min(...inTheWay.map((s) => s.y + s.h));
  }
}

/** Moves all boxes up as far as they can go, in the order in which they are read. */
export function withoutGaps<T extends Box>(boxes: readonly T[]): T[] {
  const settled: T[] = [];
  const done = [...boxes];
  for (const i of readingOrder(boxes)) {
    const box = boxes[i];
    if (!box) continue;
    let y = box.y;
    while (y > 0 && !settled.some((s) => overlaps(s, { ...box, y: y - 1 }))) y--;
    const up = { ...box, y };
    settled.push(up);
    done[i] = up;
  }
  return done;
}

/** The indexes of boxes from the top left to the bottom right. */
export const readingOrder = (boxes: readonly Box[]): number[] =>
  boxes
    .map((box, i) => ({ box, i }))
    .sort((a, b) => a.box.y - b.box.y || a.box.x - b.box.x)
    .map(({ i }) => i);

/** The first place from the top left that has room for a box. */
export function freeSpot(boxes: readonly Box[], w: number, h: number): Box {
  for (let y = 0; y <= mostRows; y++) {
    for (let x = 0; x + w <= columns; x++) {
      const box = { x, y, w, h };
      if (!boxes.some((b) => overlaps(b, box))) return box;
    }
  }
  return { x: 0, y: mostRows, w, h };
}

const steps: Record<string, readonly [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Where an arrow key brings a box: it moves it, with shift it resizes it. Undefined for other keys. */
export function keyed(box: Box, key: string, shift: boolean): Box | undefined {
  const step = Object.hasOwn(steps, key) ? steps[key] : undefined;
  if (!step) return undefined;
  const [dx, dy] = step;
  if (!shift) return clamped({ ...box, x: box.x + dx, y: box.y + dy });
  // What touches the right edge does not move when it is widened
  const w = Math.min(columns - box.x, box.w + dx);
  return clamped({ ...box, w, h: box.h + dy });
}

/** Where a drag brings a box: by so many pixels, on cells of a size. */
export function dragged(
  box: Box,
  by: { x: number; y: number },
  cell: { width: number; height: number },
  resizes: boolean,
): Box {
  const dx = Math.round(by.x / cell.width);
  const dy = Math.round(by.y / cell.height);
  if (!resizes) return clamped({ ...box, x: box.x + dx, y: box.y + dy });
  return clamped({ ...box, w: Math.min(columns - box.x, box.w + dx), h: box.h + dy });
}

/** Where a box is, and how large: "column 4, row 1, 3 wide, 2 high". */
export const boxWords = ({ x, y, w, h }: Box) =>
  `column ${x + 1}, row ${y + 1}, ${w} wide, ${h} high`;

/** What is said when a key or a drag changes nothing. */
export const stuck = "It cannot go further";

/** What a change of a box was, to be read aloud. */
export function changeWords(from: Box, to: Box): string {
  if (from.w !== to.w || from.h !== to.h) return `Resized: ${to.w} wide, ${to.h} high`;
  if (from.x !== to.x || from.y !== to.y) return `Moved to column ${to.x + 1}, row ${to.y + 1}`;
  return stuck;
}
