import { useEffect, useState } from "preact/hooks";

/** What the user wants: colours as the system has them, or always the same. */
export type Theme = "system" | "light" | "dark";

const key = "voltbus-theme";
const darkness = "(prefers-color-scheme: dark)";

/** What the user chose in this browser, "system" if nothing. */
export function chosenTheme(): Theme {
  const kept = localStorage.getItem(key);
  return kept === "light" || kept === "dark" ? kept : "system";
}

/** Chooses, and keeps it in this browser. */
export function chooseTheme(theme: Theme): void {
  if (theme === "system") localStorage.removeItem(key);
  else localStorage.setItem(key, theme);
  paint();
}

/** Paints the page as chosen, now and when the system changes. Call it once, before drawing. */
export function followTheme(): void {
  paint();
  matchMedia(darkness).addEventListener("change", paint);
}

function paint(): void {
  const chosen = chosenTheme();
  const dark = chosen === "system" ? matchMedia(darkness).matches : chosen === "dark";
  document.documentElement.dataset.theme = dark ? "dark" : "light";
}

/** The choice, and the way to make it. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  const [theme, setTheme] = useState(chosenTheme);
  useEffect(() => {
    // Another tab may choose, too
    const follow = () => {
      setTheme(chosenTheme());
      paint();
    };
    addEventListener("storage", follow);
    return () => removeEventListener("storage", follow);
  }, []);
  return [
    theme,
    (next) => {
      chooseTheme(next);
      setTheme(next);
    },
  ];
}
