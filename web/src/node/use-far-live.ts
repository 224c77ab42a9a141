import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Api, type Point, type PointPage, Problem, type Scan } from "../api";
import { Events, type Link } from "../events";
import { LiveValues } from "../live";
import { usePoll } from "../use-poll";

/** As many points of another node are shown at once. */
export const mostFar = 500;

/** Points of another node and their values, which need not be recorded here. */
export interface FarLive {
  points: readonly Point[] | undefined;
  /** Whether there are more that the pattern selects. */
  isCut: boolean;
  live: LiveValues;
  link: Link;
  /** Messages that came faster than they were taken. */
  dropped: number;
  /** Why the points could not be asked for, "" if they could. */
  problem: string;
  /** Asks for all anew. */
  again(): void;
}

const calm = 30_000;
const never = 2 ** 31 - 1;

/** The points that a pattern selects, or why the node does not tell them. */
interface Listed {
  pattern: string;
  page?: PointPage;
  refused?: Link & { state: "refused" };
}

/** Watches points of another node by a pattern, "" for all, while it is not stopped. */
export function useFarLive(far: Api, pattern: string, isStopped: boolean, epoch: number): FarLive {
  const [attempt, setAttempt] = useState(0);
  const [isRefused, setRefused] = useState(false);
  const live = useMemo(() => new LiveValues(), [far, pattern]);
  const ask = useCallback(() => list(far, pattern, live), [far, pattern, live]);
  const every = isStopped || isRefused ? never : calm;
  const { data, problem } = usePoll(ask, every, epoch + attempt);
  const listed = data?.pattern === pattern ? data : undefined;
  useEffect(() => setRefused(listed?.refused !== undefined), [listed]);
  const points = listed?.page?.points;
  const stream = useStream(far, pattern, { live, points, isStopped, epoch: epoch + attempt });
  return {
    ...{ points, isCut: (listed?.page?.next ?? "") !== "", live, problem },
    ...{ link: listed?.refused ?? stream.link, dropped: stream.dropped },
    again: () => setAttempt((n) => n + 1),
  };
}

async function list(far: Api, pattern: string, live: LiveValues): Promise<Listed> {
  try {
    const page = await far.get<PointPage>("points", { ...selecting(pattern), limit: mostFar });
    // What was read last, for points that are read rarely; the stream brings the rest
    if (page.next === "") live.applyLatest(await far.latest(pattern).catch(() => []), far.now());
    return { pattern, page };
  } catch (err) {
    if (!(err instanceof Problem) || err.status !== 403) throw err;
    return { pattern, refused: { state: "refused", why: err.message, missing: err.missing } };
  }
}

const selecting = (pattern: string) => (pattern ? { pattern } : {});

interface Into {
  live: LiveValues;
  points: readonly Point[] | undefined;
  isStopped: boolean;
  epoch: number;
}

/** Streams the values of points as soon as there are any. */
function useStream(far: Api, pattern: string, { live, points, isStopped, epoch }: Into) {
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const [dropped, setDropped] = useState(0);
  const wanted = useRef<ReadonlySet<string>>(new Set());
  useEffect(() => {
    wanted.current = new Set(points?.map((p) => p.path));
  }, [points]);
  const isOn = !isStopped && points !== undefined && points.length > 0;
  // Another epoch connects anew
  useEffect(() => {
    setLink({ state: "connecting" });
    setDropped(0);
    if (!isOn) return;
    const target = far.address("stream", selecting(pattern));
    const handlers = {
      scan: (data: unknown) => live.applyScan(data as Scan, (path) => wanted.current.has(path)),
      dropped: (data: unknown) => setDropped((n) => n + (data as { messages: number }).messages),
    };
    const events = new Events(far, target, handlers, setLink, () => far.probe(target));
    events.open();
    return () => events.close();
  }, [far, pattern, live, isOn, epoch]);
  return { link, dropped };
}
