import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api";
import { type Span, within } from "../span";
import { bounds, type Range } from "../view";

const settlesAfter = 300;

/** The window of time on screen, and how it moves. */
export interface Moving {
  window: Span;
  /** Whether it is still being moved. */
  isMoving: boolean;
  /** Moves it; the address follows when it stands still. */
  move(from: number, to: number): void;
}

/** The bounds of a range, or those to which wheel, fingers and keys have moved them. */
export function useMovingWindow(api: Api, range: Range, settle: (range: Range) => void): Moving {
  const [moved, setMoved] = useState<Span>();
  const timer = useRef(0);
  const own = useRef<Range | undefined>(undefined);
  const last = useRef(settle);
  last.current = settle;

  // Whoever chose another range is done with moving; what moved on since it settled goes on
  useEffect(() => {
    if (!isSame(range, own.current)) {
      clearTimeout(timer.current);
      timer.current = 0;
    }
    if (timer.current === 0) setMoved(undefined);
  }, [range]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const move = useCallback(
    (from: number, to: number) => {
      const next = within([from, to], api.now());
      setMoved(next);
      clearTimeout(timer.current);
      const still = () => {
        timer.current = 0;
        own.current = { from: Math.round(next[0]), to: Math.round(next[1]) };
        last.current(own.current);
      };
      timer.current = window.setTimeout(still, settlesAfter);
    },
    [api],
  );

  return { window: moved ?? shownBounds(range, api.now()), isMoving: moved !== undefined, move };
}

const fewestSteps = 1000;

/** The bounds of a range; one that ends now goes on by about a pixel, not with each redraw. */
function shownBounds(range: Range, now: number): Span {
  if (!("last" in range)) return bounds(range, now);
  const step = Math.max(200, range.last / fewestSteps);
  return bounds(range, Math.ceil(now / step) * step);
}

const isSame = (a: Range, b: Range | undefined) =>
  b !== undefined && "from" in a && "from" in b && a.from === b.from && a.to === b.to;
