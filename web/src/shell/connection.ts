import { type Api, isLoggedOut } from "../api";

/** How the page stands with the node. */
export type Link =
  | { state: "live" }
  /** since: milliseconds since 1970 by this browser's clock. */
  | { state: "lost"; since: number };

/** What is told about the node: away, or back, then with whether it is a new process. */
export interface LinkListener {
  lost(since: number): void;
  back(restarted: boolean): void;
}

const calm = 10_000;
const firstDelay = 500;
const lastDelay = 5000;

/**
 * Connection asks the node now and then whether it is there; when any request of the page fails it
 * asks at once, and when the node is away it goes on asking until it is back.
 */
export class Connection {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private delay = firstDelay;
  private lostSince = 0;
  private started = "";
  private asking = false;
  private stopped = true;

  constructor(
    private readonly api: Pick<Api, "health">,
    private readonly listener: LinkListener,
  ) {}

  /** Begins to ask. Call stop in the end. */
  start(): void {
    this.stopped = false;
    void this.ask();
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.timer);
  }

  /** Says that a request found no node, so that the next question does not wait. */
  suspect(): void {
    if (this.stopped || this.asking || this.lostSince > 0) return;
    clearTimeout(this.timer);
    void this.ask();
  }

  private async ask(): Promise<void> {
    this.asking = true;
    try {
      const { started = "" } = await this.api.health();
      this.answered(started);
    } catch (err) {
      // Whoever refuses is there
      if (err instanceof TypeError) this.failed();
      else if (!isLoggedOut(err)) this.answered(this.started);
    }
    this.asking = false;
    if (!this.stopped) this.timer = setTimeout(() => void this.ask(), this.pause());
  }

  private answered(started: string): void {
    const restarted = this.started !== "" && started !== "" && started !== this.started;
    if (started !== "") this.started = started;
    if (this.stopped || (this.lostSince === 0 && !restarted)) return;
    this.lostSince = 0;
    this.delay = firstDelay;
    this.listener.back(restarted);
  }

  private failed(): void {
    if (this.stopped) return;
    this.lostSince ||= Date.now();
    this.listener.lost(this.lostSince);
  }

  private pause(): number {
    if (this.lostSince === 0) return calm;
    const delay = this.delay;
    this.delay = Math.min(lastDelay, delay * 2);
    return delay;
  }
}
