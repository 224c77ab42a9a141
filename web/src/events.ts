import { type Api, isLoggedOut, Problem } from "./api";

/**
 * How a stream stands: not yet open, open, lost since a time with what the node said about it, or
 * refused by another node, with the capability that is missing there.
 */
export type Link =
  | { state: "connecting" | "live" }
  | { state: "lost"; since: number; why: string }
  | { state: "refused"; why: string; missing: string };

/** What is done with the events of a stream, by their names. */
export type EventHandlers = Record<string, (data: unknown) => void>;

const firstDelay = 500;
const lastDelay = 5000;
/** A page that is hidden so long gives its connections back: a browser has six for all its pages. */
const restAfter = 30_000;

/**
 * Events brings server-sent events. When the node goes away it keeps asking until it is back, and
 * only gives up when the node no longer knows who asks, or when another node refuses. While the page
 * is hidden for long it rests; the reader is then told that it is lost, and live again later.
 */
export class Events {
  private source: EventSource | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private rest: ReturnType<typeof setTimeout> | undefined;
  private delay = firstDelay;
  private openedAt = 0;
  private isResting = false;
  private closed = false;
  private lostSince = 0;
  private why = "";

  /** probe finds out why the stream broke off: whether the node is there, unless something else is said. */
  constructor(
    api: Pick<Api, "session">,
    private readonly target: string,
    private readonly handlers: EventHandlers,
    private readonly told: (link: Link) => void,
    private readonly probe: () => Promise<unknown> = () => api.session(),
  ) {}

  /** Connects. Call close in the end. */
  open(): void {
    document.addEventListener("visibilitychange", this.seen);
    this.connect();
  }

  close(): void {
    this.closed = true;
    document.removeEventListener("visibilitychange", this.seen);
    clearTimeout(this.rest);
    this.disconnect();
  }

  private connect(): void {
    const source = new EventSource(this.target);
    this.source = source;
    source.addEventListener("open", () => this.opened());
    for (const [name, handle] of Object.entries(this.handlers)) {
      source.addEventListener(name, (e) => handle(JSON.parse((e as MessageEvent<string>).data)));
    }
    source.addEventListener("error", (e) => this.failed(e));
  }

  private disconnect(): void {
    clearTimeout(this.timer);
    this.source?.close();
  }

  private opened(): void {
    this.openedAt = Date.now();
    this.lostSince = 0;
    this.why = "";
    this.told({ state: "live" });
  }

  /** Both the node's own "event: error" and a broken connection arrive here. */
  private failed(event: Event): void {
    if (event instanceof MessageEvent) {
      const told = explain(event.data);
      this.why = told.why;
      if (told.missing) this.refused(told.why, told.missing);
      return; // the node now ends the stream, which comes as an error without data
    }
    this.source?.close();
    this.lost();
  }

  private refused(why: string, missing: string): void {
    this.close();
    this.told({ state: "refused", why, missing });
  }

  private lost(): void {
    if (this.closed || this.isResting) return;
    // One that breaks off as soon as it is open is not asked without pause
    if (this.openedAt > 0 && Date.now() - this.openedAt > lastDelay) this.delay = firstDelay;
    this.openedAt = 0;
    this.lostSince ||= Date.now();
    this.told({ state: "lost", since: this.lostSince, why: this.why });
    this.timer = setTimeout(() => void this.retry(), this.delay);
    this.delay = Math.min(lastDelay, this.delay * 2);
  }

  /** An EventSource does not tell why it failed, so a plain request asks first. */
  private async retry(): Promise<void> {
    try {
      await this.probe();
      if (!this.closed && !this.isResting) this.connect();
    } catch (err) {
      if (isLoggedOut(err) || this.closed) return;
      if (err instanceof Problem) this.why = err.message;
      if (err instanceof Problem && err.status === 403) this.refused(err.message, err.missing);
      else this.lost();
    }
  }

  private readonly seen = (): void => {
    clearTimeout(this.rest);
    if (document.hidden) {
      this.rest = setTimeout(() => this.pause(), restAfter);
    } else if (this.isResting) {
      this.isResting = false;
      this.connect();
    }
  };

  private pause(): void {
    this.isResting = true;
    this.disconnect();
    this.told({ state: "lost", since: Date.now(), why: "" });
  }
}

/** The words of a problem that came as text, and the capability that it says is missing. */
function explain(data: unknown): { why: string; missing: string } {
  try {
    const told = JSON.parse(String(data)) as Partial<Problem>;
    return { why: told.detail || told.title || "", missing: told.missing ?? "" };
  } catch {
    return { why: String(data), missing: "" };
  }
}
