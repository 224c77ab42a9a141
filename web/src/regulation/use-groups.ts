import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { Stream } from "../stream";
import { type Group, hear } from "./heard";

/** How often the screen is drawn anew, at most. Then absent members are noticed, too. */
const every = 500;

/** The groups whose members are heard at the node, by their names, as long as the component stands. */
export function useGroups(api: Api): Group[] {
  const [groups, setGroups] = useState<Group[]>([]);
  useEffect(() => {
    const heard = new Map<string, Group>();
    const stream = new Stream(api, ["regulation"], {
      scan: (scan) => void hear(heard, scan, Date.now()),
      link: () => {},
    });
    stream.open();
    const timer = window.setInterval(() => {
      if (heard.size > 0 && !document.hidden) setGroups([...heard.values()]);
    }, every);
    return () => {
      stream.close();
      clearInterval(timer);
    };
  }, [api]);
  return groups;
}
