// The service worker, which stands in while the node is away and shows pushes, and what it may say then.

/** Has the browser install the service worker. Without one the page works all the same. */
export function installWorker(): void {
  if (!("serviceWorker" in navigator) || import.meta.env.DEV) return;
  void navigator.serviceWorker.register("/sw.js").catch(() => undefined);
}

/** What the offline page says that this browser heard last. */
export interface Heard {
  /** Milliseconds since 1970, by the clock of this browser. */
  at: number;
  sentence: string;
  alarms: string[];
}

const key = "voltbus:last";

/** Keeps what was heard, for the offline page. */
export function remember(heard: Heard): void {
  try {
    localStorage.setItem(key, JSON.stringify(heard));
  } catch {
    // A browser without room for it says less later
  }
}

/** Forgets it, for whoever uses the browser next. */
export function forget(): void {
  try {
    localStorage.removeItem(key);
  } catch {
    // Nothing is kept then
  }
}
