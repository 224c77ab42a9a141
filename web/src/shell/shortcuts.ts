import { useEffect } from "preact/hooks";
import { go } from "./place";
import { screens } from "./screens";

const patience = 1500;

/** Lets "g" and then a screen's key go to that screen, wherever no text is being typed. */
export function useShortcuts(): void {
  useEffect(() => {
    let begun = Number.NEGATIVE_INFINITY;
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const isSecond = event.timeStamp - begun < patience;
      begun = event.key === "g" ? event.timeStamp : Number.NEGATIVE_INFINITY;
      const screen = isSecond ? screens.find((s) => s.key === event.key) : undefined;
      if (!screen) return;
      event.preventDefault();
      go(`/${screen.path}`);
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

const isTyping = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable || target.matches("input, textarea, select"));
