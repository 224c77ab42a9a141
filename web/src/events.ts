import { type Api, isLoggedOut } from "./api";

/** How a stream stands: not yet open, open, or lost since a time, with what the node said about it. */
export type Link = { state: "connecting" | "live" } | { state: "lost"; since: number; why: string };

/** What is done with the events of a stream, by their names. */
export type EventHandlers = Record<string, (data: unknown) => void>;

const firstDelay = 500;
const lastDelay = 5000;

/**
 * Events brings server-sent events. When the node goes away it keeps asking until it is back, and
 * only gives up when the node no longer knows who asks.
 */
export class Events {
  private source: EventSource | undefined;
  private timer = 0;
  private delay = firstDelay;
  private closed = false;
  private lostSince = 0;
  private why = "";

  constructor(
    private readonly api: Api,
    private readonly target: string,
    private readonly handlers: EventHandlers,
    private readonly told: (link: Link) => void,
  ) {}

  /** Connects. Call close in the end. */
  open(): void {
    const source = new EventSource(this.target);
    this.source = source;
    source.addEventListener("open", () => this.opened());
    for (const [name, handle] of Object.entries(this.handlers)) {
      source.addEventListener(name, (e) => handle(JSON.parse((e as MessageEvent<string>).data)));
    }
    source.addEventListener("error", (e) => this.failed(e));
  }

  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    this.source?.close();
  }

  private opened(): void {
    this.delay = firstDelay;
    this.lostSince = 0;
    this.why = "";
    this.told({ state: "live" });
  }

  /** Both the node's own "event: error" and a broken connection arrive here. */
  private failed(event: Event): void {
    if (event instanceof MessageEvent) {
      this.why = explain(event.data);
      return; // the node now ends the stream, which comes as an error without data
    }
    this.source?.close();
    this.lost();
  }

  private lost(): void {
    if (this.closed) return;
    this.lostSince ||= Date.now();
    this.told({ state: "lost", since: this.lostSince, why: this.why });
    this.timer = window.setTimeout(() => void this.retry(), this.delay);
    this.delay = Math.min(lastDelay, this.delay * 2);
  }

  /** An EventSource does not tell why it failed, so a plain request asks first. */
  private async retry(): Promise<void> {
    try {
      await this.api.session();
      if (!this.closed) this.open();
    } catch (err) {
      if (!isLoggedOut(err)) this.lost();
    }
  }
}

/** The words of a problem that came as text. */
function explain(data: unknown): string {
  try {
    const told = JSON.parse(String(data)) as { title?: string; detail?: string };
    return told.detail || told.title || "";
  } catch {
    return String(data);
  }
}
