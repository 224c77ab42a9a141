import { useEffect, useState } from "preact/hooks";
import { type Api, address } from "../api";
import { Events, type Link } from "../events";
import { patternFor } from "../path";
import { type Polled, usePoll } from "../use-poll";

const calm = 300;
const askAgain = 30_000;

/** What control told, how the stream stands. */
export interface Watched<T> extends Polled<T> {
  link: Link;
  /** Asks at once. */
  again(): void;
}

/** Asks, and asks again soon after something happened in control to points below a path, "" for all. */
export function useControl<T>(
  api: Api,
  path: string,
  ask: () => Promise<T>,
  epoch: number,
): Watched<T> {
  const [changes, setChanges] = useState(0);
  const [link, setLink] = useState<Link>({ state: "connecting" });

  // Another epoch connects anew
  useEffect(() => {
    let timer = 0;
    const happened = () => {
      timer ||= window.setTimeout(() => {
        timer = 0;
        setChanges((n) => n + 1);
      }, calm);
    };
    let wasLost = false;
    const told = (next: Link) => {
      if (next.state === "live" && wasLost) happened(); // what was missed meanwhile
      wasLost = next.state === "lost";
      setLink(next);
    };
    const target = address("control/events", path === "" ? {} : { pattern: patternFor(path) });
    const events = new Events(api, target, { control: happened }, told);
    events.open();
    return () => {
      clearTimeout(timer);
      events.close();
    };
  }, [api, path, epoch]);

  const polled = usePoll(ask, askAgain, epoch + changes);
  return { ...polled, link, again: () => setChanges((n) => n + 1) };
}
