import { useEffect, useState } from "preact/hooks";

const isDark = () => document.documentElement.dataset.theme === "dark";

/** Whether the page is painted dark, now and when that changes. */
export function useDark(): boolean {
  const [dark, setDark] = useState(isDark);
  useEffect(() => {
    const observer = new MutationObserver(() => setDark(isDark()));
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => observer.disconnect();
  }, []);
  return dark;
}
