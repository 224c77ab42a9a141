import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { type Api, address } from "../api";
import { Events, type Link } from "../events";
import { type Polled, usePoll } from "../use-poll";

const calm = 300;
const askAgain = 30_000;

/** What control told, and what asks it again. */
export interface Asked<T> extends Polled<T> {
  /** Asks at once. */
  again(): void;
}

/** What control told, how the stream stands. */
export interface Watched<T> extends Asked<T> {
  link: Link;
}

/** What happens in control, so that is asked again. */
export interface Happenings {
  /** Grows soon after something happened. */
  count: number;
  /** Tells that something happened. */
  happened(): void;
  /** Has it grow at once. */
  now(): void;
}

/** Counts what happens: many things within a moment once. */
export function useHappenings(): Happenings {
  const [count, setCount] = useState(0);
  const timer = useRef(0);
  const now = useCallback(() => setCount((n) => n + 1), []);
  const happened = useCallback(() => {
    timer.current ||= window.setTimeout(() => {
      timer.current = 0;
      now();
    }, calm);
  }, [now]);
  useEffect(() => () => clearTimeout(timer.current), []);
  return { count, happened, now };
}

/** Asks control, and asks again when something happened. */
export function useAsked<T>(
  ask: () => Promise<T>,
  happenings: Happenings,
  epoch: number,
): Asked<T> {
  const polled = usePoll(ask, askAgain, epoch + happenings.count);
  return { ...polled, again: happenings.now };
}

/** Asks, and asks again soon after something happened anywhere in control. */
export function useControl<T>(api: Api, ask: () => Promise<T>, epoch: number): Watched<T> {
  const happenings = useHappenings();
  const { happened } = happenings;
  const [link, setLink] = useState<Link>({ state: "connecting" });

  // Another epoch connects anew
  useEffect(() => {
    let wasLost = false;
    const told = (next: Link) => {
      if (next.state === "live" && wasLost) happened(); // what was missed meanwhile
      wasLost = next.state === "lost";
      setLink(next);
    };
    const events = new Events(api, address("control/events"), { control: happened }, told);
    events.open();
    return () => events.close();
  }, [api, epoch, happened]);

  return { ...useAsked(ask, happenings, epoch), link };
}
