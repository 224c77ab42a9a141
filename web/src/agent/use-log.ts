import { useEffect, useMemo, useState } from "preact/hooks";
import type { Api } from "../api";
import { Events, type Link } from "../events";
import type { ProcessLine } from "../generated/api";
import { Lines } from "./lines";

/** A log that is followed. */
export interface Followed {
  lines: Lines;
  link: Link;
  /** Draws anew after a change of the lines by hand. */
  redraw(): void;
}

const calm = 250;

/** Follows the log of an agent, "" for none; what is shown begins with the newest lines that fit. */
export function useLog(
  api: Api,
  name: string,
  { level, search }: { level: string; search: string },
  epoch: number,
): Followed {
  const lines = useMemo(() => new Lines(), []);
  const [link, setLink] = useState<Link>({ state: "connecting" });
  const [, setDrawn] = useState(0);
  const redraw = () => setDrawn((n) => n + 1);

  // Another epoch connects anew
  useEffect(() => {
    if (name === "") return;
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
    const target = api.address(`agents/${encodeURIComponent(name)}/logs/follow`, query);
    const told = (next: Link) => {
      // A stream that begins anew begins with the newest lines
      if (next.state === "live" && !lines.held) lines.clear();
      setLink(next);
    };
    const line = (data: unknown) => {
      lines.add(data as ProcessLine);
      soon();
    };
    const events = new Events(api, target, { line }, told);
    events.open();
    return () => {
      clearTimeout(timer);
      events.close();
    };
  }, [api, name, level, search, epoch, lines]);
  return { lines, link, redraw };
}
