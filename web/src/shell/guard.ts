import { useEffect } from "preact/hooks";
import { leaving } from "./place";

/** Asks before the screen or the page is left, as long as something would be lost by that. */
export function useGuard(active: boolean, question: string): void {
  useEffect(() => {
    if (!active) return;
    const onLeaving = (event: Event) => {
      if (!confirm(question)) event.preventDefault();
    };
    const onUnload = (event: Event) => event.preventDefault();
    addEventListener(leaving, onLeaving);
    addEventListener("beforeunload", onUnload);
    return () => {
      removeEventListener(leaving, onLeaving);
      removeEventListener("beforeunload", onUnload);
    };
  }, [active, question]);
}
