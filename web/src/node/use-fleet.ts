import { useCallback, useEffect, useState } from "preact/hooks";
import type { Api, Ledger } from "../api";
import { Events, type Link } from "../events";
import type { LedgerChange, Nodes, NodesChange } from "../generated/api";
import { mergedLedger } from "../ledger/told";
import { type Polled, usePoll, wordsOf } from "../use-poll";
import { children } from "./calls";
import { merged } from "./roster";

/** A page that leads from one part to another keeps the stream. */
const linger = 3000;

/** What is followed by the stream of the nodes: they themselves, or the ledger, too. */
type Part = "nodes" | "ledger";

/** FleetFeed follows the nodes and their ledger by one stream, for all parts of the page that want to know. */
export class FleetFeed {
  now: Polled<Nodes> = { data: undefined, problem: "" };
  books: Polled<Ledger> = { data: undefined, problem: "" };

  private readonly listeners = new Map<() => void, Part>();
  private events: Events | undefined;
  /** Whether the stream brings the ledger. */
  private hasLedger = false;
  private isLive = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly api: Api) {}

  /** Follows the nodes, or the ledger with them, until the returned function is called. */
  listen(part: Part, listener: () => void): () => void {
    this.listeners.set(listener, part);
    if (!this.events || (part === "ledger" && !this.hasLedger)) this.begin();
    return () => {
      this.listeners.delete(listener);
      clearTimeout(this.timer);
      if (this.isLive) this.timer = setTimeout(() => this.settle(), linger);
      else this.settle();
    };
  }

  private get wantsLedger(): boolean {
    return [...this.listeners.values()].includes("ledger");
  }

  /** Follows no more than somebody wants. */
  private settle(): void {
    if (this.listeners.size === 0) this.end();
    else if (this.hasLedger && !this.wantsLedger) this.begin();
  }

  private begin(): void {
    this.events?.close();
    this.hasLedger = this.wantsLedger;
    this.isLive = false;
    if (!this.hasLedger) this.books = { data: undefined, problem: "" };
    const target = this.api.address("events/nodes", this.hasLedger ? { ledger: "true" } : {});
    const handlers = {
      nodes: (data: unknown) => {
        this.now = { data: merged(this.now.data, data as NodesChange), problem: "" };
        this.tell();
      },
      ledger: (data: unknown) => {
        this.books = { data: mergedLedger(this.books.data, data as LedgerChange), problem: "" };
        this.tell();
      },
    };
    this.events = new Events(this.api, target, handlers, (link) => this.linked(link));
    this.events.open();
  }

  private end(): void {
    this.events?.close();
    this.events = undefined;
    this.hasLedger = false;
    this.isLive = false;
    this.now = { data: undefined, problem: "" };
    this.books = { data: undefined, problem: "" };
  }

  /** A stream does not say why there is none, and there may be no room for one more: then it is asked. */
  private linked(link: Link): void {
    this.isLive = link.state === "live";
    if (link.state !== "lost" || document.hidden) return;
    void this.ask(
      () => this.api.get<Nodes>("nodes"),
      this.now,
      (now) => {
        this.now = now;
      },
    );
    if (!this.hasLedger) return;
    void this.ask(
      () => this.api.ledger("all"),
      this.books,
      (books) => {
        this.books = books;
      },
    );
  }

  private async ask<T>(
    get: () => Promise<T>,
    before: Polled<T>,
    put: (now: Polled<T>) => void,
  ): Promise<void> {
    const { events } = this;
    const answered = await get().then(
      (data) => ({ data, problem: "" }),
      (err) => ({ data: before.data, problem: wordsOf(err) }),
    );
    if (this.isLive || events !== this.events) return;
    put(answered);
    this.tell();
  }

  private tell(): void {
    for (const listener of this.listeners.keys()) listener();
  }
}

const feeds = new WeakMap<Api, FleetFeed>();

function feedOf(api: Api): FleetFeed {
  const feed = feeds.get(api) ?? new FleetFeed(api);
  feeds.set(api, feed);
  return feed;
}

/** This node and all its descendants, live. All that ask at the same time share one stream. */
export function useFleet(api: Api): Polled<Nodes> {
  const feed = feedOf(api);
  const [fleet, setFleet] = useState(feed.now);
  useEffect(() => {
    setFleet(feed.now);
    return feed.listen("nodes", () => setFleet(feed.now));
  }, [feed]);
  return fleet;
}

/** The account of this node and all its descendants, live, by the same stream. */
export function useLedger(api: Api): Polled<Ledger> {
  const feed = feedOf(api);
  const [books, setBooks] = useState(feed.books);
  useEffect(() => {
    setBooks(feed.books);
    return feed.listen("ledger", () => setBooks(feed.books));
  }, [feed]);
  return books;
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
