// The node's HTTP API, in the order of api/openapi.yaml. Everything that is text here may come
// from a device or a registry file, so it is hostile: show it as text only.

import { dropAnswers, takeAnswer } from "./first-answers";
import type * as generated from "./generated/api";
import type { Kind, Sample, Session, Value } from "./generated/api";
import { said } from "./language/said";

export type {
  ColumnSeries,
  Columns,
  Damage,
  Gap,
  Hop,
  LedgerNode,
  LedgerSum,
  Log,
  Origin,
  Series as PlotSeries,
  Tuple as PlotSample,
} from "./generated/api";
export type { Kind, Sample, Session, Value };

// Below, what the page needs less of than the node promises: it also understands a node of another
// version, which may know other states, or leave a list out.

/** A point of the catalogue. */
export interface Point extends Omit<generated.Point, "tags"> {
  tags: generated.Point["tags"] | null;
}

/** A page of points; next is empty on the last one. */
export interface PointPage extends Omit<generated.Points, "points"> {
  points: Point[];
}

/** Curves over a range of time. */
export interface PlotAnswer<Series = generated.Series>
  extends Pick<generated.Plot, "completeness" | "step" | "sources"> {
  series: Series[];
}

/** A device and its state. */
export interface Device extends Omit<generated.Device, "state"> {
  state: string;
}

/** The proof that nothing is lost, or what is. */
export interface Ledger extends Pick<generated.Ledger, "state" | "reason"> {
  origins: generated.Origin[] | null;
  gaps: generated.Gap[] | null;
  log: generated.Log | null;
  damaged: generated.Damage[] | null;
  /** Samples overwritten by another value with the same point and time; an older node does not tell. */
  overwritten?: number;
  /** About the whole subtree, which an older node does not tell. */
  sentence?: string;
  sum?: generated.LedgerSum;
  nodes?: generated.LedgerNode[] | null;
}

/** How the node does as a program. */
export interface NodeHealth extends Omit<generated.Health, "status"> {
  status: string;
}

/** One pass over a device, as the live stream carries it. */
export interface Scan {
  device: string;
  time: string;
  points: Record<string, Value>;
  /** Only the names whose quality is not good. */
  quality?: Record<string, string> | null;
}

/** A refusal in the form of RFC 9457, with the kinds of the fault package. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly kind: string,
    /** Who stands in the way, of a refusal of control. */
    readonly holders: readonly generated.ControlHolder[] = [],
    /** Of a refusal at another node: the capability that is missing there. */
    readonly missing = "",
    /** All that is wrong with a configuration. */
    readonly problems: readonly generated.ConfigProblem[] = [],
  ) {
    super(said(detail || title));
  }
}

/** Whether an error says that nobody is logged in (any more). */
export const isLoggedOut = (err: unknown) => err instanceof Problem && err.status === 401;

/** What stands behind the "?" of an address; a list repeats its name. */
export type Query = Record<string, string | number | readonly string[]>;

/** How a resource is changed. */
export type Method = "POST" | "PUT" | "PATCH" | "DELETE";

/** The address of a resource, with its query escaped. */
export function address(resource: string, query: Query = {}): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(query)) {
    for (const v of Array.isArray(value) ? value : [value]) params.append(key, String(v));
  }
  const text = params.toString();
  return `/api/v1/${resource}${text ? `?${text}` : ""}`;
}

/** The node's API. Its methods reject with a Problem, or a TypeError if the node does not answer. */
export class Api {
  /** How far the node's clock is ahead of this browser's, in milliseconds. */
  clockAhead = 0;

  /** Is called when the node no longer knows who asks. */
  loggedOut = (): void => {};

  /** Is called when a request found no node. */
  unreachable = (): void => {};

  /** Another node of the tree that is asked by way of this one; "" for this one itself. */
  private readonly node: string;

  /** The question for the health that is not answered yet. */
  private healthAsked: Promise<NodeHealth> | undefined;

  constructor(node = "") {
    this.node = node;
  }

  /** The API of another node, asked by way of this one, as far as both let it be asked. */
  at(node: string): Api {
    const far = new Api(node);
    far.clockAhead = this.clockAhead;
    far.loggedOut = () => this.loggedOut();
    far.unreachable = () => this.unreachable();
    return far;
  }

  /** The address of a resource of the node that is asked. */
  address(resource: string, query: Query = {}): string {
    return address(resource, this.node ? { ...query, node: this.node } : query);
  }

  /** The node's time in milliseconds since 1970. */
  now(): number {
    return Date.now() + this.clockAhead;
  }

  session(): Promise<Session> {
    return this.get("session");
  }

  async login(token: string): Promise<void> {
    dropAnswers();
    await this.send("POST", "session", { token });
  }

  /** The login by the token of the address, if it began while the code of the page came; undefined if not. */
  loginAhead(): Promise<void> | undefined {
    return takeAnswer("POST", address("session"))?.then((response) => this.inspect(response));
  }

  async logout(): Promise<void> {
    await this.send("DELETE", "session");
  }

  points(after: string, limit: number): Promise<PointPage> {
    return this.get("points", after ? { limit, after } : { limit });
  }

  async latest(pattern: string): Promise<Sample[]> {
    return (await this.get<generated.Latest>("latest", { pattern })).samples;
  }

  plot(points: readonly string[], from: number, to: number, pixels: number): Promise<PlotAnswer> {
    const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    return this.get("plot", { point: points, ...range, pixels });
  }

  async devices(): Promise<Device[]> {
    return (await this.get<generated.Devices>("devices")).devices;
  }

  /** The account of this node, and, unless it is local, of all its descendants. */
  ledger(scope: "local" | "all"): Promise<Ledger> {
    return this.get("ledger", scope === "local" ? { local: "true" } : {});
  }

  /** How the node does; a node that does not do well answers, too. Those who ask meanwhile share the answer. */
  health(): Promise<NodeHealth> {
    this.healthAsked ??= this.askHealth().finally(() => {
      this.healthAsked = undefined;
    });
    return this.healthAsked;
  }

  private async askHealth(): Promise<NodeHealth> {
    const response = await this.fetch(address("health"), { cache: "no-store" });
    if (response.status !== 503) await this.inspect(response);
    return (await response.json().catch(() => ({ status: "failed" }))) as NodeHealth;
  }

  /** Asks for a resource below /api/v1/. */
  async get<T>(resource: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    const response = await this.fetch(this.address(resource, query), {
      cache: "no-store",
      ...(signal ? { signal } : {}),
    });
    await this.inspect(response);
    return (await response.json()) as T;
  }

  /** Asks at an address whether it would answer, and drops the answer: rejects if it would not. */
  async probe(target: string): Promise<void> {
    const stop = new AbortController();
    try {
      await this.inspect(await this.fetch(target, { cache: "no-store", signal: stop.signal }));
    } finally {
      stop.abort();
    }
  }

  /** Changes a resource below /api/v1/; the answer is undefined if the node has nothing to say. */
  async send<T = void>(method: Method, resource: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { "X-Voltbus": "1" };
    const init: RequestInit = { method, headers };
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    const response = await this.fetch(this.address(resource), init);
    await this.inspect(response);
    const text = await response.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  private async fetch(target: string, init: RequestInit): Promise<Response> {
    try {
      return await (takeAnswer(init.method, target) ?? fetch(target, init));
    } catch (err) {
      if (err instanceof TypeError) this.unreachable();
      throw err;
    }
  }

  private async inspect(response: Response): Promise<void> {
    this.readClock(response.headers.get("Date"));
    if (response.ok) return;
    const told = (await response.json().catch(() => ({}))) as Partial<Problem>;
    if (response.status === 401) {
      dropAnswers(); // they are those to somebody who was not logged in
      this.loggedOut();
    }
    throw new Problem(
      response.status,
      told.title ?? `The node answered ${response.status}`,
      told.detail ?? "",
      told.kind ?? "internal",
      told.holders ?? [],
      told.missing ?? "",
      told.problems ?? [],
    );
  }

  /** The Date header counts whole seconds, so a difference below two seconds means nothing. */
  private readClock(date: string | null): void {
    const ahead = date ? Date.parse(date) - Date.now() : Number.NaN;
    if (Number.isNaN(ahead)) return;
    this.clockAhead = Math.abs(ahead) < 2000 ? 0 : ahead;
  }
}
