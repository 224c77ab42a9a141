import { useCallback, useEffect, useState } from "preact/hooks";
import type { Api, Point } from "./api";
import type { LiveValues } from "./live";
import { usePoll } from "./use-poll";

const pageSize = 5000;
/** As much of a catalogue as a browser can hold with ease. */
export const mostPoints = 100_000;

/** The catalogue of points, asked again each half minute, and each two seconds while it is empty. */
export function usePoints(api: Api, epoch: number) {
  const ask = useCallback(() => allPoints(api), [api]);
  const [some, setSome] = useState(false);
  const polled = usePoll(ask, some ? 30_000 : 2000, epoch);
  useEffect(() => setSome((polled.data?.length ?? 0) > 0), [polled.data]);
  return polled;
}

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

/** Devices and ledger, asked each five seconds. */
export function useBooks(api: Api, epoch: number) {
  const ask = useCallback(async () => {
    const [devices, ledger] = await Promise.all([api.devices(), api.ledger()]);
    return { devices, ledger };
  }, [api]);
  return usePoll(ask, 5000, epoch);
}

/** Keeps live up to date for points that the stream does not bring: the more points, the rarer. */
export function useLatest(api: Api, live: LiveValues, points: number, epoch: number): void {
  const ask = useCallback(async () => {
    live.applyLatest(await api.latest(""));
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
