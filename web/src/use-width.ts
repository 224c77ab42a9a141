import { useLayoutEffect, useState } from "preact/hooks";

/** The width of an element in steps of a hundred pixels, so that a small change asks nothing anew. */
export function useWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(800);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    const look = () => setWidth(Math.max(200, Math.round(element.clientWidth / 100) * 100));
    const observer = new ResizeObserver(look);
    observer.observe(element);
    look();
    return () => observer.disconnect();
  }, [box]);
  return width;
}
