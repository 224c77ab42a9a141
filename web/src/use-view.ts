import { useCallback, useEffect, useState } from "preact/hooks";
import { formatView, parseView, type View } from "./view";

/** The view of the address bar, undefined while it says nothing, and the way to change it. */
export function useView(): [View | undefined, (next: View, how?: "push" | "replace") => void] {
  const [view, setView] = useState(() => parseView(location.search));

  useEffect(() => {
    const follow = () => setView(parseView(location.search));
    addEventListener("popstate", follow);
    return () => removeEventListener("popstate", follow);
  }, []);

  const show = useCallback((next: View, how: "push" | "replace" = "push") => {
    const target = location.pathname + formatView(next);
    if (how === "push") history.pushState(null, "", target);
    else history.replaceState(null, "", target);
    setView(next);
  }, []);

  return [view, show];
}
