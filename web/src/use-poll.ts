import { useEffect, useRef, useState } from "preact/hooks";

/** What came of asking: the newest answer, and the problem of the latest attempt if it failed. */
export interface Polled<T> {
  data: T | undefined;
  problem: string;
}

/**
 * Asks at once, and again so many milliseconds after each answer while the page is visible; the pause may follow from the newest
 * good answer. A change of ask or epoch asks at once. The last good answer stays when an attempt fails.
 */
export function usePoll<T>(
  ask: () => Promise<T>,
  everyMs: number | ((data: T | undefined) => number),
  epoch: number,
): Polled<T> {
  const [polled, setPolled] = useState<Polled<T>>({ data: undefined, problem: "" });
  const pause = useRef(everyMs);
  pause.current = everyMs;

  // A new epoch means "ask again".
  useEffect(() => {
    let timer = 0;
    let ended = false;
    let newest: T | undefined;
    const round = async () => {
      try {
        const data = await ask();
        newest = data;
        if (!ended) setPolled({ data, problem: "" });
      } catch (err) {
        if (!ended) setPolled((old) => ({ data: old.data, problem: wordsOf(err) }));
      }
      if (ended) return;
      const { current } = pause;
      timer = window.setTimeout(next, typeof current === "number" ? current : current(newest));
    };
    const next = () => {
      if (document.hidden) document.addEventListener("visibilitychange", next, { once: true });
      else void round();
    };
    void round();
    return () => {
      ended = true;
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", next);
    };
  }, [ask, epoch]);

  return polled;
}

/** What a failed request means to a person. */
export function wordsOf(err: unknown): string {
  if (err instanceof TypeError) return "The node does not answer.";
  return err instanceof Error ? err.message : String(err);
}
