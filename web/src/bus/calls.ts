// The bus part of the HTTP API.

/** What went one way. */
export interface Traffic {
  messages: number;
  bytes: number;
}

/** Who is connected to the bus. */
export interface Connection {
  id: number;
  /** As it calls itself. */
  name: string;
  /** The first characters of its public key. */
  key: string;
  /** "" for a part of the node itself. */
  address: string;
  role: string;
  /** How many subscriptions it has. */
  subscribed: number;
  /** What it sent. */
  in: Traffic;
  /** What it was sent. */
  out: Traffic;
  /** Bytes that wait to be read by it. */
  pending: number;
  /** Whether it reads slower than messages come. */
  slow: boolean;
  /** 0 if unknown. */
  rtt_ms: number;
  since: string;
}

/** The bus as it is now. */
export interface Bus {
  /** All connections; the first thousand are listed. */
  total: number;
  connections: Connection[] | null;
  /** Readers that were cut off since the start because they were too slow. */
  slow_consumers: number;
}

/** What went over a subject. */
export interface SubjectRate extends Traffic {
  subject: string;
}

/** What went over the subjects that are watched. */
export interface BusRates {
  /** For which it was counted. */
  seconds: number;
  /** The busiest. */
  subjects: SubjectRate[] | null;
  /** Subjects that are not listed. */
  more: number;
  /** Messages that were counted, but not shown. */
  hidden: number;
}

/** One message; its text may be cut, and is hostile. */
export interface Message {
  time: string;
  subject: string;
  bytes: number;
  text: string;
  cut: boolean;
  binary: boolean;
}
