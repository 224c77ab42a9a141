import { useLayoutEffect, useRef, useState } from "preact/hooks";

/** The part of a long list of equally high rows that is on screen. */
export interface Window {
  first: number;
  /** Behind the last row. */
  end: number;
  scrollTo(index: number): void;
}

const spare = 6;

/** Whether the page is as narrow as a phone. The styles have the same width. */
export const isNarrow = () => matchMedia("(max-width: 759px)").matches;

/** How high the rows of a long list are: on a phone high enough to touch. The styles have the same. */
export const rowHeight = () => (isNarrow() ? 44 : 30);

/** Watches which rows of a scrolling element are visible, so that only these need to exist. */
export function useWindow<E extends HTMLElement>(count: number, rowHeight: number) {
  const ref = useRef<E>(null);
  const [seen, setSeen] = useState({ top: 0, height: 600 });

  useLayoutEffect(() => {
    const box = ref.current;
    if (!box) return;
    const look = () => setSeen({ top: box.scrollTop, height: box.clientHeight });
    const observer = new ResizeObserver(look);
    observer.observe(box);
    box.addEventListener("scroll", look, { passive: true });
    return () => {
      observer.disconnect();
      box.removeEventListener("scroll", look);
    };
  }, []);

  const scrollTo = (index: number) => {
    const box = ref.current;
    if (!box) return;
    const top = index * rowHeight;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + rowHeight > box.scrollTop + box.clientHeight) {
      box.scrollTop = top + rowHeight - box.clientHeight;
    }
  };
  const first = Math.max(0, Math.min(count, Math.floor(seen.top / rowHeight)) - spare);
  const end = Math.min(count, Math.ceil((seen.top + seen.height) / rowHeight) + spare);
  return { ref, first, end, scrollTo } satisfies Window & { ref: unknown };
}
