import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import type { Api, Device, Ledger, Point } from "./api";
import type { Concern } from "./generated/api";
import { type Health, healthOf } from "./health";
import type { LiveValues } from "./live";
import { type Polled, usePoll } from "./use-poll";

const pageSize = 5000;
/** As much of a catalogue as a browser can hold with ease. */
export const mostPoints = 100_000;

/** The catalogue of points, asked again each half minute, and each two seconds while it is empty. */
export function usePoints(api: Api, epoch: number) {
  const known = useRef<Point[]>([]);
  const ask = useCallback(async () => {
    const found = await allPoints(api);
    // What did not change keeps its identity, so that nobody works on it again.
    if (JSON.stringify(found) !== JSON.stringify(known.current)) known.current = found;
    return known.current;
  }, [api]);
  return usePoll(ask, pauseOfPoints, epoch);
}

const pauseOfPoints = (known: Point[] | undefined) => (known?.length ? 30_000 : 2000);

/** Walks the pages of the catalogue, up to a hundred thousand points. */
async function allPoints(api: Api): Promise<Point[]> {
  const found: Point[] = [];
  let after = "";
  do {
    const page = await api.points(after, pageSize);
    for (const point of page.points) found.push(point);
    after = page.next;
  } while (after !== "" && found.length < mostPoints);
  return found;
}

/** A site of so many points is streamed whole; of a larger one only the branch that is shown. */
export const mostStreamed = 2000;

/** How the devices and the recording do, and what the node says is not well. */
export interface Books {
  devices: Device[];
  ledger: Ledger;
  concerns: readonly Concern[];
  health: Health;
}

const manyDevices = 1000;

const pauseOfBooks = (known: Books | undefined) =>
  (known?.devices.length ?? 0) > manyDevices ? 30_000 : 5000;

/** Devices and ledger, asked each five seconds; rarer when the list is long. */
export function useBooks(api: Api, epoch: number): Polled<Books> {
  const ask = useCallback(async () => {
    const [devices, ledger, told] = await Promise.all([
      api.devices(),
      api.ledger("local"),
      api.health(),
    ]);
    return { devices, ledger, concerns: told.concerns ?? [], health: healthOf(told) };
  }, [api]);
  return usePoll(ask, pauseOfBooks, epoch);
}

/** Keeps live up to date for points that the stream does not bring: the more points, the rarer. */
export function useLatest(api: Api, live: LiveValues, points: number, epoch: number): void {
  const ask = useCallback(async () => {
    const at = api.now();
    live.applyLatest(await api.latest(""), at);
  }, [api, live]);
  usePoll(ask, points > 5000 ? 60_000 : 10_000, epoch);
}

/** Draws the caller again when live values change, and each second so that ages go on. */
export function useTick(live: LiveValues): number {
  const [tick, setTick] = useState(0);
  useEffect(() => {
    const again = () => setTick((n) => n + 1);
    const timer = setInterval(again, 1000);
    const stop = live.listen(again);
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [live]);
  return tick;
}
