import { afterEach, beforeEach, vi } from "vitest";

/** What a browser has: connections that the test opens, fails and closes. */
export class Source extends EventTarget {
  static readonly all: Source[] = [];
  closed = false;
  constructor(readonly url: string) {
    super();
    Source.all.push(this);
  }
  close(): void {
    this.closed = true;
  }
  open(): void {
    this.dispatchEvent(new Event("open"));
  }
  tell(name: string, data: object): void {
    this.dispatchEvent(new MessageEvent(name, { data: JSON.stringify(data) }));
  }
  fail(problem?: object): void {
    if (problem) this.tell("error", problem);
    else this.dispatchEvent(new Event("error"));
  }
}

const page = Object.assign(new EventTarget(), { hidden: false });

export const newest = () => Source.all.at(-1) as Source;
export const stillOpen = () => Source.all.filter((s) => !s.closed);

/** Shows the page, or hides it. */
export function show(isShown: boolean): void {
  page.hidden = !isShown;
  page.dispatchEvent(new Event("visibilitychange"));
}

/** Gives each test of a file such a browser, and a clock that it moves. */
export function inBrowser(): void {
  beforeEach(() => {
    vi.useFakeTimers();
    vi.stubGlobal("EventSource", Source);
    vi.stubGlobal("document", page);
    Source.all.length = 0;
    page.hidden = false;
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  });
}
