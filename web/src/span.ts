// Stretches of time as they are moved by wheel, fingers and keys.

/** Begin and end in milliseconds since 1970. */
export type Span = readonly [from: number, to: number];

const shortest = 1000;
const longest = 20 * 366 * 86_400_000;
/** Nobody looks further ahead than half of what is shown. */
const ahead = 0.5;

/** Makes a span factor times as wide; what stands at the share (0 left, 1 right) stays there. */
export function zoomAt([from, to]: Span, factor: number, share: number): Span {
  const width = Math.min(longest, Math.max(shortest, (to - from) * factor));
  const anchor = from + (to - from) * share;
  const begin = Math.round(anchor - width * share);
  return [begin, begin + Math.round(width)];
}

/** Moves a span by a share of its width; positive: later. */
export function panBy([from, to]: Span, share: number): Span {
  const by = Math.round((to - from) * share);
  return [from + by, to + by];
}

/** Keeps a span from running away into the future. */
export function within([from, to]: Span, now: number): Span {
  const late = to - (now + (to - from) * ahead);
  return late > 0 ? [Math.round(from - late), Math.round(to - late)] : [from, to];
}

/** Where two fingers that began at shares a0 and b0 of a span and are now at a and b have brought it. */
export function pinch([from, to]: Span, began: Span, at: Span): Span {
  const width = to - from;
  const apart = Math.max(0.02, Math.abs(at[1] - at[0]));
  const wanted = (width * Math.max(0.02, Math.abs(began[1] - began[0]))) / apart;
  const next = Math.min(longest, Math.max(shortest, wanted));
  const middle = from + (width * (began[0] + began[1])) / 2;
  const begin = Math.round(middle - (next * (at[0] + at[1])) / 2);
  return [begin, begin + Math.round(next)];
}

/** What a key does to a span; undefined if it means nothing. */
export function pressed(span: Span, key: string): Span | undefined {
  switch (key) {
    case "ArrowLeft":
      return panBy(span, -0.1);
    case "ArrowRight":
      return panBy(span, 0.1);
    case "PageUp":
      return panBy(span, -1);
    case "PageDown":
      return panBy(span, 1);
    case "+":
    case "=":
      return zoomAt(span, 0.5, 0.5);
    case "-":
      return zoomAt(span, 2, 0.5);
  }
  return undefined;
}
