import { useCallback } from "preact/hooks";
import type { Api, Sample } from "../api";
import type { LiveValues } from "../live";
import { usePoll } from "../use-poll";

const askAgain = 30_000;

/** Keeps live up to date for points that no stream brings. */
export function useNewest(
  api: Api,
  points: readonly string[],
  live: LiveValues,
  epoch: number,
): void {
  const ask = useCallback(async () => {
    if (points.length === 0) return;
    const at = api.now();
    const { samples } = await api.get<{ samples: Sample[] | null }>("latest", { point: points });
    live.applyLatest(samples ?? [], at);
  }, [api, points, live]);
  usePoll(ask, askAgain, epoch);
}
