import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import type { NotedAnnotation, SavedView } from "../generated/api";
import type { Span } from "../span";
import { usePoll, wordsOf } from "../use-poll";
import { iso } from "./iso";

const askAgain = 60_000;

/** What people keep with the node, and how it is changed. */
export interface Kept<T> {
  list: readonly T[];
  problem: string;
  /** Changes something, then asks again; resolves with what went wrong, "" if nothing. */
  change(how: () => Promise<unknown>): Promise<string>;
}

function useKept<T>(ask: () => Promise<readonly T[]>, epoch: number): Kept<T> {
  const [changed, setChanged] = useState(0);
  const { data, problem } = usePoll(ask, askAgain, epoch + changed);
  const change = useCallback(async (how: () => Promise<unknown>) => {
    try {
      await how();
      setChanged((n) => n + 1);
      return "";
    } catch (err) {
      return wordsOf(err);
    }
  }, []);
  return { list: data ?? [], problem, change };
}

/** What was noted about a window and points. */
export function useAnnotations(
  api: Api,
  points: readonly string[],
  [from, to]: Span,
  epoch: number,
): Kept<NotedAnnotation> {
  // A window that goes on by itself is asked anew when it has moved by a tenth
  const grid = Math.max(1000, Math.round((to - from) / 10));
  const begin = Math.floor(from / grid) * grid;
  const end = Math.ceil(to / grid) * grid;
  const ask = useCallback(async () => {
    if (points.length === 0) return [];
    const query = { from: iso(begin), to: iso(end), point: points };
    return (await api.get<{ annotations: NotedAnnotation[] }>("annotations", query)).annotations;
  }, [api, points, begin, end]);
  return useKept(ask, epoch);
}

/** The saved views of the node. */
export function useViews(api: Api, epoch: number): Kept<SavedView> {
  const ask = useCallback(
    async () => (await api.get<{ views: SavedView[] }>("views")).views,
    [api],
  );
  return useKept(ask, epoch);
}
