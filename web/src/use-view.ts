import { useCallback, useMemo } from "preact/hooks";
import { go, usePlace } from "./shell/place";
import { formatView, parseView, type View } from "./view";

/** The view of the address bar, undefined while it says nothing, and the way to change it. */
export function useView(): [View | undefined, (next: View, how?: "push" | "replace") => void] {
  const { search } = usePlace();
  const view = useMemo(() => parseView(search), [search]);
  const show = useCallback((next: View, how: "push" | "replace" = "push") => {
    go(location.pathname + formatView(next), how);
  }, []);
  return [view, show];
}
