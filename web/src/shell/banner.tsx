import { useEffect, useState } from "preact/hooks";
import { clock } from "../format";
import type { Connected } from "./use-connection";

/** Says that the node is away, and for a few seconds that it is back. */
export function Banner({ link, epoch, restarted }: Connected) {
  const returned = useForAWhile(epoch);
  const lost = link.state === "lost";
  const words = lost
    ? `The node has not answered since ${clock(link.since)}; trying again. What you see is as old as that.`
    : returned
      ? restarted
        ? "The node restarted. Connected again."
        : "Connected again."
      : "";
  return (
    <p
      class={`banner ${lost ? "is-bad" : "is-good"}`}
      role="status"
      aria-label="Connection"
      data-shown={words !== ""}
    >
      {words}
    </p>
  );
}

/** Whether epoch changed within the last eight seconds. */
function useForAWhile(epoch: number): boolean {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    if (epoch === 0) return;
    setShown(true);
    const timer = setTimeout(() => setShown(false), 8000);
    return () => clearTimeout(timer);
  }, [epoch]);
  return shown;
}
