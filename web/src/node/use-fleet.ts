import { useCallback, useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { Events, type Link } from "../events";
import type { Nodes, NodesChange } from "../generated/api";
import { type Polled, usePoll, wordsOf } from "../use-poll";
import { children } from "./calls";
import { merged } from "./roster";

/** A page that leads from one part to another keeps the stream. */
const linger = 3000;

/** FleetFeed follows the nodes by one stream, for all parts of the page that want to know of them. */
class FleetFeed {
  now: Polled<Nodes> = { data: undefined, problem: "" };

  private readonly listeners = new Set<() => void>();
  private events: Events | undefined;
  private isLive = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly api: Api) {}

  /** Follows the nodes until the returned function is called. */
  listen(listener: () => void): () => void {
    clearTimeout(this.timer);
    this.listeners.add(listener);
    if (!this.events) this.begin();
    return () => {
      this.listeners.delete(listener);
      if (this.listeners.size > 0) return;
      if (this.isLive) this.timer = setTimeout(() => this.end(), linger);
      else this.end();
    };
  }

  private begin(): void {
    const change = (data: unknown) =>
      this.tell({ data: merged(this.now.data, data as NodesChange), problem: "" });
    const target = this.api.address("events/nodes");
    this.events = new Events(this.api, target, { nodes: change }, (link) => this.linked(link));
    this.events.open();
  }

  private end(): void {
    this.events?.close();
    this.events = undefined;
    this.isLive = false;
    this.now = { data: undefined, problem: "" };
  }

  /** A stream does not say why there is none, and there may be no room for one more: then it is asked. */
  private linked(link: Link): void {
    this.isLive = link.state === "live";
    if (link.state === "lost" && !document.hidden) void this.ask();
  }

  private async ask(): Promise<void> {
    const { events } = this;
    const isOver = () => this.isLive || events !== this.events;
    try {
      const data = await this.api.get<Nodes>("nodes");
      if (!isOver()) this.tell({ data, problem: "" });
    } catch (err) {
      if (!isOver()) this.tell({ data: this.now.data, problem: wordsOf(err) });
    }
  }

  private tell(now: Polled<Nodes>): void {
    this.now = now;
    for (const listener of this.listeners) listener();
  }
}

const feeds = new WeakMap<Api, FleetFeed>();

function feedOf(api: Api): FleetFeed {
  const feed = feeds.get(api) ?? new FleetFeed(api);
  feeds.set(api, feed);
  return feed;
}

/** This node and all below it, live. All that ask at the same time share one stream. */
export function useFleet(api: Api): Polled<Nodes> {
  const feed = feedOf(api);
  const [fleet, setFleet] = useState(feed.now);
  useEffect(() => {
    setFleet(feed.now);
    return feed.listen(() => setFleet(feed.now));
  }, [feed]);
  return fleet;
}

const calm = 10_000;

/** The nodes directly below, asked again as soon as a node comes, goes or changes its state. */
export function useChildren(api: Api, fleet: Nodes | undefined, epoch: number) {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => children(api), [api]);
  const states = fleet?.nodes.map((n) => `${n.name} ${n.state} ${n.link}`).join("\n") ?? "";
  useEffect(() => setChanges((n) => n + 1), [states]);
  const polled = usePoll(ask, calm, epoch + changes);
  return { ...polled, again: () => setChanges((n) => n + 1) };
}
