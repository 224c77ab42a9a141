import { useEffect } from "preact/hooks";
import { leaving } from "./place";

/** Asks before the screen or the page is left, as long as something would be lost by that. */
export function useGuard(active: boolean, question: string): void {
  useEffect(() => {
    if (!active) return;
    const stop = new AbortController();
    const { signal } = stop;
    const onLeaving = (event: Event) => {
      if (!confirm(question)) event.preventDefault();
    };
    addEventListener(leaving, onLeaving, { signal });
    addEventListener("beforeunload", (event) => event.preventDefault(), { signal });
    return () => stop.abort();
  }, [active, question]);
}
