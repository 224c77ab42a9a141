import { useEffect, useMemo, useState } from "preact/hooks";
import type { Api } from "../api";
import { Events, type Link } from "../events";
import type { NodeLogLost } from "../generated/api";
import { type Line, Lines } from "./lines";

/** A log that is followed. */
export interface Followed {
  lines: Lines;
  link: Link;
  /** Draws anew after a change of the lines by hand. */
  redraw(): void;
}

/** What of a log is followed. */
export interface Choice {
  /** The least level, "" for all. */
  level: string;
  search: string;
}

const calm = 250;

/** Follows the log at a resource; what is shown begins with the newest lines that fit. */
export function useLog(
  api: Api,
  resource: string,
  { level, search }: Choice,
  epoch: number,
): Followed {
  const lines = useMemo(() => new Lines(), []);
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const [, setDrawn] = useState(0);
  const redraw = () => setDrawn((n) => n + 1);

  // Another epoch connects anew
  useEffect(() => {
    let timer = 0;
    const soon = () => {
      timer ||= window.setTimeout(() => {
        timer = 0;
        lines.take();
        redraw();
      }, calm);
    };
    lines.clear();
    redraw();
    const query = { ...(level ? { level } : {}), ...(search ? { search } : {}), limit: 200 };
    const target = api.address(resource, query);
    const told = (next: Link) => {
      // A stream that begins anew begins with the newest lines
      if (next.state === "live" && !lines.held) lines.clear();
      setLink(next);
    };
    const line = (data: unknown) => {
      lines.add(data as Line);
      soon();
    };
    const lost = (data: unknown) => {
      lines.lost += (data as NodeLogLost).count;
      soon();
    };
    const events = new Events(api, target, { line, lost }, told, () => api.probe(target));
    events.open();
    return () => {
      clearTimeout(timer);
      events.close();
    };
  }, [api, resource, level, search, epoch, lines]);
  return { lines, link, redraw };
}
