// The bus part of the HTTP API.

/** Who is connected to the bus. */
export interface Connection {
  name: string;
  kind: string;
  address: string;
  subscriptions: number;
  in_messages: number;
  in_bytes: number;
  out_messages: number;
  out_bytes: number;
  /** Waits to be read by it. */
  pending_bytes: number;
  /** Whether it reads slower than messages come. */
  slow: boolean;
  rtt_ms: number;
  since: string;
}

/** The bus as it is now. */
export interface Bus {
  connections: Connection[] | null;
  slow_consumers?: number;
}

/** What went over a subject since the event before, which was a second ago. */
export interface SubjectRate {
  subject: string;
  messages: number;
  bytes: number;
}

/** One message; its text may be cut, and is hostile. */
export interface Message {
  time: string;
  subject: string;
  bytes: number;
  text: string;
}
