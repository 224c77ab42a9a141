import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { Connection, type Link } from "./connection";

/** How the page stands with the node. */
export interface Connected {
  link: Link;
  /** How often it came back. */
  epoch: number;
  /** Whether it came back as a new process the last time. */
  restarted: boolean;
}

/** Watches the node for as long as the component stands. */
export function useConnection(api: Api): Connected {
  const [state, setState] = useState<Connected>({
    link: { state: "live" },
    epoch: 0,
    restarted: false,
  });
  useEffect(() => {
    const connection = new Connection(api, {
      lost: (since) => setState((old) => ({ ...old, link: { state: "lost", since } })),
      back: (restarted) =>
        setState((old) => ({ link: { state: "live" }, epoch: old.epoch + 1, restarted })),
    });
    api.unreachable = () => connection.suspect();
    connection.start();
    return () => {
      api.unreachable = () => {};
      connection.stop();
    };
  }, [api]);
  return state;
}
