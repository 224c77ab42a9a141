import { useEffect, useRef, useState } from "preact/hooks";
import type { Api } from "./api";
import type { LiveValues } from "./live";
import { type Link, Stream } from "./stream";

/** How the page stands with the node; epoch counts the times that the link came back. */
export interface Linked {
  link: Link;
  epoch: number;
}

/**
 * Streams the values of branches and points into live, for as long as the component stands; none before
 * there are any. onControl is called when something happened to them in control, or may have.
 */
export function useStream(
  api: Api,
  branches: readonly string[],
  live: LiveValues,
  onControl?: () => void,
): Linked {
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const [epoch, setEpoch] = useState(0);
  const lost = useRef(false);

  // The key stands for the branches
  const key = branches.join("\n");
  useEffect(() => {
    if (branches.length === 0) return;
    const stream = new Stream(api, branches, {
      scan: (scan) => live.applyScan(scan),
      ...(onControl ? { control: onControl } : {}),
      link: (next) => {
        if (next.state === "live" && lost.current) {
          setEpoch((n) => n + 1);
          onControl?.(); // what was missed meanwhile
        }
        lost.current = next.state === "lost";
        setLink(next);
      },
    });
    stream.open();
    return () => stream.close();
  }, [api, key, live, onControl]);

  return { link, epoch };
}
