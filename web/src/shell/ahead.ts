import { useEffect } from "preact/hooks";
import { loadPalette } from "./jump";
import type { Part } from "./parts";
import { includes } from "./role";
import { type Screen, screens } from "./screens";

/** The screens whose code a person may need next: those that the role may see at this node. */
export const wantedAhead = (role: string, parts: ReadonlySet<Part>): readonly Screen[] =>
  screens.filter((s) => includes(role, s.role) && (!s.part || parts.has(s.part)));

/** For so long after the first answers of the node the line is left to the screen, in milliseconds. */
const quiet = 2000;

/**
 * Brings the code of the palette and of all screens when the page has nothing else to do, one after the other, so that a screen that
 * nobody visited yet opens also while the node is down. Not for those who save data, and not before something is shown.
 */
export function useCodeAhead(role: string, parts: ReadonlySet<Part>, isShown: boolean): void {
  useEffect(() => {
    if (!isShown || savesData()) return;
    let left = false;
    const bring = async () => {
      await new Promise((resolve) => setTimeout(resolve, quiet));
      for (const { load } of [{ load: loadPalette }, ...wantedAhead(role, parts)]) {
        await idle();
        if (left) return;
        await load().catch(() => undefined); // whoever asks for it is told
      }
    };
    void bring();
    return () => {
      left = true;
    };
  }, [role, parts, isShown]);
}

const savesData = () =>
  (navigator as { connection?: { saveData?: boolean } }).connection?.saveData === true;

/** A moment without work; Safari has no way to ask for one. */
const idle = () =>
  new Promise<void>((resolve) => {
    if ("requestIdleCallback" in window) requestIdleCallback(() => resolve(), { timeout: 10_000 });
    else setTimeout(resolve, 200);
  });
