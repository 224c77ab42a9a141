import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api";

/** The node's time, each second. */
export function useClock(api: Api): number {
  const [now, setNow] = useState(() => api.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(api.now()), 1000);
    return () => clearInterval(timer);
  }, [api]);
  return now;
}
