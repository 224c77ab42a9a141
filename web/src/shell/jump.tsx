import type { ComponentType } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Api } from "../api";
import type { Known } from "../palette/items";
import { Icon } from "./icons";

type Show = ComponentType<Known & { api: Api; begun: string; onClose(): void }>;

let loaded: Show | undefined;

/** Brings the code of the palette, so that the keys after Ctrl-K find it open. */
export async function loadPalette(): Promise<Show> {
  loaded = (await import("../palette/palette")).Palette;
  return loaded;
}

/** The palette: opened by Ctrl-K or a button, its code is loaded the first time. */
export interface Jump {
  open(): void;
  /** The palette, while it is open. */
  Shown: Show | undefined;
  /** What was typed before it was there. */
  begun: string;
  /** Why it cannot be opened, "" if it can. */
  problem: string;
  close(): void;
}

/** Follows Ctrl-K, also where text is typed. */
export function useJump(): Jump {
  const [Shown, setShown] = useState<Show>();
  const [problem, setProblem] = useState("");
  const before = useRef<Element | null>(null);
  const ahead = useTypedAhead(Shown !== undefined);
  const open = useCallback(() => {
    before.current = document.activeElement;
    ahead.begin();
    setProblem("");
    if (loaded) return setShown(() => loaded);
    loadPalette()
      .then((Palette) => setShown(() => Palette))
      .catch(() => {
        ahead.end();
        setProblem("It could not be loaded. Try again when the node answers.");
      });
  }, [ahead]);
  const close = useCallback(() => {
    setShown(undefined);
    // The browser gives the focus back unless the palette left another screen behind
    if (before.current instanceof HTMLElement && before.current.isConnected) before.current.focus();
  }, []);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey) return;
      if (event.ctrlKey === event.metaKey) return;
      event.preventDefault();
      // Whoever is asked something answers first
      if (!document.querySelector("dialog[open]")) open();
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, [open]);
  return { open, Shown, begun: ahead.typed(), problem, close };
}

/** Keeps what is typed from the moment the palette is asked for until it is there: nobody waits with typing. */
function useTypedAhead(isThere: boolean) {
  const [ahead] = useState(() => {
    let text = "";
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (event.key === "Backspace") text = text.slice(0, -1);
      else if ([...event.key].length === 1) text += event.key;
      else return;
      event.preventDefault();
    };
    return {
      begin() {
        text = "";
        addEventListener("keydown", onKeyDown);
      },
      end: () => removeEventListener("keydown", onKeyDown),
      typed: () => text,
    };
  });
  // The palette has the keys in the same moment
  useLayoutEffect(() => {
    if (isThere) ahead.end();
    return ahead.end;
  }, [ahead, isThere]);
  return ahead;
}

/** Opens the palette for those without a keyboard, and shows the others its keys. */
export function JumpButton({ jump }: { jump: Jump }) {
  const label = "Jump to a point, device, screen or action";
  return (
    <button
      type="button"
      class="jump"
      aria-label={label}
      title={jump.problem || `${label} (Ctrl K)`}
      aria-keyshortcuts="Control+K Meta+K"
      aria-haspopup="dialog"
      onClick={jump.open}
    >
      <Icon name="find" />
      <span>Jump to</span>
    </button>
  );
}
