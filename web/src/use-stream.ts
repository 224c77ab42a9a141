import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "./api";
import type { LiveValues } from "./live";
import { type Link, Stream } from "./stream";

/** How the page stands with the node; epoch counts the times that the link came back. */
export interface Linked {
  link: Link;
  epoch: number;
}

/** Streams the branch's values into live, for as long as the component stands; not before branch is known. */
export function useStream(api: Api, branch: string | undefined, live: LiveValues): Linked {
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const [epoch, setEpoch] = useState(0);
  const lost = useRef(false);

  useEffect(() => {
    if (branch === undefined) return;
    const stream = new Stream(api, branch, {
      scan: (scan) => live.applyScan(scan),
      link: (next) => {
        if (next.state === "live" && lost.current) setEpoch((n) => n + 1);
        lost.current = next.state === "lost";
        setLink(next);
      },
    });
    stream.open();
    return () => stream.close();
  }, [api, branch, live]);

  return { link, epoch };
}
