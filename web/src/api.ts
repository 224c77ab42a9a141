// The node's HTTP API, in the order of api/openapi.yaml. Everything that is text here may come
// from a device or a registry file, so it is hostile: show it as text only.

/** The kind of value of a point. */
export type Kind = "none" | "float" | "int" | "bool" | "text";

/** A value as JSON; NaN and the infinities arrive as "NaN", "+Inf", "-Inf". */
export type Value = number | boolean | string | null;

/** Who is logged in. */
export interface Session {
  user: string;
  role: string;
}

/** A point of the catalogue. */
export interface Point {
  path: string;
  kind: Kind;
  unit: string;
  description: string;
  writable: boolean;
  /** The path of its device, "" for points that programs record. */
  device: string;
  /** Seconds between the samples that are expected, 0 if unknown. */
  interval: number;
  tags: Record<string, string> | null;
}

/** A page of points; next is empty on the last one. */
export interface PointPage {
  points: Point[];
  next: string;
}

/** The value of one point at one time. */
export interface Sample {
  point: string;
  time: string;
  value: Value;
  kind: Kind;
  quality: string;
}

/** One sample of a curve: milliseconds since 1970, value, quality unless it is good. */
export type PlotSample = [number, Value, string?];

/** The curve of one point, and how complete it is. */
export interface PlotSeries {
  point: string;
  unit: string;
  kind: Kind;
  samples: PlotSample[] | null;
  /** Samples that the point's interval asks for, null if it is unknown. */
  expected: number | null;
  /** Samples with a usable value. */
  present: number;
  /** Samples of bad quality. */
  bad: number;
}

/** Curves over a range of time. */
export interface PlotAnswer {
  series: PlotSeries[];
  completeness: number | null;
  /** Seconds that four samples of a series stand for, 0 if all samples are there. */
  step: number;
}

/** One pass over a device, as the live stream carries it. */
export interface Scan {
  device: string;
  time: string;
  points: Record<string, Value>;
  /** Only the names whose quality is not good. */
  quality?: Record<string, string> | null;
}

/** A device and how it does. */
export interface Device {
  path: string;
  driver: string;
  line: string;
  /** "online", "offline", "starting", "disabled" or "hung". */
  state: string;
  /** Seconds. */
  interval: number;
  last_read: string | null;
  last_error: string;
  last_error_time: string | null;
  error_kind: string;
  reads: number;
  failures: number;
  points: number;
  /** Of the last read. */
  latency_ms: number;
}

/** What became of the samples of one node. */
export interface Origin {
  origin: string;
  produced: number;
  acknowledged: number;
  stored: number;
  refused: number;
  missing: number;
  repeated: number;
  backlog_blocks: number;
  backlog_samples: number;
  balanced: boolean;
}

/** A run of blocks that never arrived. */
export interface Gap {
  origin: string;
  /** The numbers of the first and last block. */
  first: number;
  last: number;
  samples: number;
  reason: string;
  noticed: string;
}

/** The state of the durable log. */
export interface Log {
  bytes: number;
  max_bytes: number;
  blocks: number;
  dropped_blocks: number;
  dropped_samples: number;
}

/** A piece of the history that cannot be read. */
export interface Damage {
  file: string;
  /** The time that it covers, if that is known. */
  from?: string;
  to?: string;
  reason: string;
  noticed: string;
}

/** The proof that nothing is lost, or what is. */
export interface Ledger {
  /** "ok", or what keeps the node from recording. */
  state: string;
  reason: string;
  origins: Origin[] | null;
  gaps: Gap[] | null;
  log: Log | null;
  damaged: Damage[] | null;
}

/** How the node does as a program. */
export interface NodeHealth {
  /** "ok", "degraded", "failed" or "starting". */
  status: string;
  summary?: string;
  /** When its process started; only those who are logged in are told. */
  started?: string;
}

/** A refusal in the form of RFC 9457, with the kinds of the fault package. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly kind: string,
  ) {
    super(detail || title);
  }
}

/** Whether an error says that nobody is logged in (any more). */
export const isLoggedOut = (err: unknown) => err instanceof Problem && err.status === 401;

/** What stands behind the "?" of an address; a list repeats its name. */
export type Query = Record<string, string | number | readonly string[]>;

/** How a resource is changed. */
export type Method = "POST" | "PUT" | "DELETE";

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

  /** The node's time in milliseconds since 1970. */
  now(): number {
    return Date.now() + this.clockAhead;
  }

  session(): Promise<Session> {
    return this.get("session");
  }

  async login(token: string): Promise<void> {
    await this.send("POST", "session", { token });
  }

  async logout(): Promise<void> {
    await this.send("DELETE", "session");
  }

  points(after: string, limit: number): Promise<PointPage> {
    return this.get("points", after ? { limit, after } : { limit });
  }

  async latest(pattern: string): Promise<Sample[]> {
    const answer = await this.get<{ samples: Sample[] | null }>("latest", { pattern });
    return answer.samples ?? [];
  }

  plot(points: readonly string[], from: number, to: number, pixels: number): Promise<PlotAnswer> {
    const range = { from: new Date(from).toISOString(), to: new Date(to).toISOString() };
    return this.get("plot", { point: points, ...range, pixels });
  }

  async devices(): Promise<Device[]> {
    return (await this.get<{ devices: Device[] | null }>("devices")).devices ?? [];
  }

  ledger(): Promise<Ledger> {
    return this.get("ledger");
  }

  /** How the node does; a node that does not do well answers, too. */
  async health(): Promise<NodeHealth> {
    const response = await this.fetch(address("health"), { cache: "no-store" });
    if (response.status !== 503) await this.inspect(response);
    return (await response.json().catch(() => ({ status: "failed" }))) as NodeHealth;
  }

  /** Asks for a resource below /api/v1/. */
  async get<T>(resource: string, query: Query = {}, signal?: AbortSignal): Promise<T> {
    const response = await this.fetch(address(resource, query), {
      cache: "no-store",
      ...(signal ? { signal } : {}),
    });
    await this.inspect(response);
    return (await response.json()) as T;
  }

  /** Changes a resource below /api/v1/; the answer is undefined if the node has nothing to say. */
  async send<T = void>(method: Method, resource: string, body?: unknown): Promise<T> {
    const headers: Record<string, string> = { "X-Voltbus": "1" };
    const init: RequestInit = { method, headers };
    if (body !== undefined) {
      headers["Content-Type"] = "application/json";
      init.body = JSON.stringify(body);
    }
    const response = await this.fetch(address(resource), init);
    await this.inspect(response);
    const text = await response.text();
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  private async fetch(target: string, init: RequestInit): Promise<Response> {
    try {
      return await fetch(target, init);
    } catch (err) {
      if (err instanceof TypeError) this.unreachable();
      throw err;
    }
  }

  private async inspect(response: Response): Promise<void> {
    this.readClock(response.headers.get("Date"));
    if (response.ok) return;
    const told = (await response.json().catch(() => ({}))) as Partial<Problem>;
    if (response.status === 401) this.loggedOut();
    throw new Problem(
      response.status,
      told.title ?? `The node answered ${response.status}`,
      told.detail ?? "",
      told.kind ?? "internal",
    );
  }

  /** The Date header counts whole seconds, so a difference below two seconds means nothing. */
  private readClock(date: string | null): void {
    const ahead = date ? Date.parse(date) - Date.now() : Number.NaN;
    if (Number.isNaN(ahead)) return;
    this.clockAhead = Math.abs(ahead) < 2000 ? 0 : ahead;
  }
}
