// Code generated from api/openapi.yaml by "make generate"; DO NOT EDIT.
// Text here may come from a device, so it is hostile: show it as text only.

export type Time = string;

export type Count = number;

/** Samples that the interval asks for, since it was set; null if it is unknown */
export type Expected = number | null;

/** Usable of expected samples, over the points whose interval is known; null if there is none, or no sample is expected of them */
export type Completeness = number | null;

export type Kind = "none" | "float" | "int" | "bool" | "text";

export type Figure = number | null;

/** A number, true or false, a text, or null for none; "NaN", "+Inf" and "-Inf" of floats */
export type Value = number | boolean | string | null;

/** good, uncertain or bad, with a reason in brackets; released below control/ and control-level/ while nobody commands the point */
export type Quality = string;

export type Role = "viewer" | "operator" | "engineer" | "administrator";

export type FaultKind = "internal" | "invalid" | "not-found" | "unreachable" | "timeout" | "refused" | "conflict" | "unavailable" | "corrupt" | "rejected" | "canceled";

/** Descendants whose points were requested; absent if there are none. This node is among them if much of its log is not in its store yet */
export type Sources = Source[];

/** Of those present, the ones that the interval does not ask for: present less extra, of expected, is how complete it is */
export type Extra = number;

/** [milliseconds since 1970, value], and the quality behind them if it is not good */
export type Tuple = [number, Value, Quality?];

/** The after of the next page; empty if this is the last */
export type Next = string;

/** The samples of a series, column by column */
export interface Columns {
  /** Milliseconds since 1970 of the first sample, then pairs: a step in milliseconds, and how often it comes in a row */
  times: number[];
  values: Value[];
  /** Runs that are not good: the place of the first sample from 0, how many, their quality */
  qualities: [number, number, string][];
}

export interface ColumnSeries {
  point: string;
  unit: string;
  kind: Kind;
  columns: Columns;
  expected: Expected;
  present: Count;
  extra: Extra;
  bad: Count;
  /** The samples are the newest ones; the counts are of the whole range */
  truncated?: boolean;
}

export interface Plot {
  series: (Series | ColumnSeries)[];
  completeness: Completeness;
  from: Time;
  to: Time;
  /** Seconds; 0 for all samples */
  step: number;
  sources?: Sources;
}

export interface NodeChange {
  name: string;
}

/** What an agent may do; what is left out it may not. A pattern without "*" is the path and all below it. For publish and subscribe "*" is a whole segment and "**" the last one. */
export interface Grants {
  /** Live scans, samples and messages */
  publish?: string[];
  /** Durable samples */
  record?: string[];
  /** Live scans, samples and messages */
  subscribe?: string[];
  /** History, newest values, the list of points */
  read?: string[];
  command?: {
    path: string;
    /** The most urgent that may be used, 1 being the most urgent */
    level: number;
    min?: number;
    max?: number;
  }[];
  call?: {
    agent: string;
    /** Left out for all */
    method?: string;
    where?: Where;
  }[];
  hold?: {
    /** A capability that methods of agents demand */
    name: string;
    where?: Where;
  }[];
  /** Everything */
  administer?: boolean;
}

/** Restrictions of arguments by name */
export type Where = Record<string, string | {
  min?: number;
  max?: number;
} | (string | number | boolean)[]>;

/** Readings, or series as the answer to a range has them */
export type Readings = Reading[] | {
  samples: Reading[];
} | {
  series: {
    point: string;
    kind?: Kind;
    /** [time, value] or [time, value, quality] */
    samples: unknown[][];
  }[];
};

export interface Reading {
  point: string;
  /** RFC 3339, or a whole number in the unit of precision; now if left out */
  time?: string | number | null;
  value: number | boolean | string | null;
  quality?: Quality;
  kind?: "float" | "int" | "bool" | "text";
  unit?: string;
}

export interface Agent {
  name: string;
  /** The public half of its key */
  public: string;
  grants: Grants;
  created: Time;
  revoked?: Time;
  /** Left out if it is not connected */
  online?: AgentOnline;
}

export interface AgentOnline {
  since: Time;
  address: string;
  in: Traffic;
  out: Traffic;
}

export interface Agents {
  agents: Agent[];
}

export interface Aggregate {
  series: Summary[];
  completeness: Completeness;
  from: Time;
  to: Time;
  /** Seconds; of days and months on average */
  step: number;
  /** As it was asked for */
  step_name: string;
  /** Empty if steps begin at from */
  zone: string;
  next: Next;
  sources?: Sources;
}

export interface Alarm {
  /** The descendant whose alarm it is; empty for this node. Send what you do with node=<name> */
  node: string;
  /** Whether this is so now: false for a descendant that does not answer */
  known: boolean;
  id: string;
  state: "normal" | "unacknowledged" | "acknowledged" | "returned" | "latched_unacknowledged" | "latched_acknowledged" | "shelved" | "suppressed" | "out_of_service";
  /** Whether the condition holds, also if it is not annunciated */
  active: boolean;
  priority: "low" | "medium" | "high" | "critical";
  /** The name of the rule; empty for the alert of an agent */
  rule: string;
  /** The agent whose alert it is; empty for the alarm of a rule */
  agent: string;
  /** The key of the alert; empty for the alarm of a rule */
  key: string;
  /** Empty for the alert of an agent */
  point: string;
  /** Of the point */
  description: string;
  /** Of the point */
  unit: string;
  /** What is wrong */
  text: string;
  /** What the rule looks for, in words */
  limit: string;
  /** Of the point, when the alarm opened */
  value: string;
  /** The newest value of the point; empty if it is not known */
  now: string;
  /** When it opened or returned to normal */
  since: Time;
  /** How often it opened since it was normal */
  count: number;
  /** Whether it opened first in its group */
  first: boolean;
  group: string;
  acknowledged_by: string;
  acknowledged_at: string | null;
  /** Of the last act */
  note: string;
  shelved_until: string | null;
  shelved_by: string;
  /** Who took it out of service */
  removed_by: string;
  /** Why it is not known now whether its condition holds; empty if it is */
  unjudged: string;
}

export interface AlarmChange {
  number: number;
  time: Time;
  alarm: string;
  rule: string;
  point: string;
  event: "opened" | "returned" | "acknowledged" | "reset" | "shelved" | "unshelved" | "shelf_expired" | "suppressed" | "unsuppressed" | "out_of_service" | "back_in_service" | "ended";
  from: string;
  to: string;
  /** Who did it; empty for the node */
  by: string;
  note: string;
  priority: string;
  text: string;
  value: string;
  first: boolean;
}

export interface AlarmContact {
  name: string;
  by: "email" | "webhook" | "ntfy" | "mqtt" | "push";
}

export interface AlarmCount {
  alarm: string;
  rule: string;
  point: string;
  text: string;
  times: number;
  /** Of all, from 0 to 1 */
  share: number;
  /** How often it came within one minute, at most */
  most: number;
  /** Of a standing alarm */
  since?: Time;
}

export interface AlarmHistory {
  changes: AlarmChange[];
  /** The before of the next page; 0 if this is the last */
  next: number;
}

export interface AlarmPeople {
  /** The contacts that are on call now; if there is none, all are told */
  on_call: string[];
  /** Those of the plan that is used */
  contacts: AlarmContact[];
  /** What is wrong with the document escalation, so that the one before is used; empty if nothing is */
  wrong: string;
  /** Who cannot be told of alarms now, and why */
  troubles: string[];
  /** The applicationServerKey to subscribe to pushes with (RFC 8292), in base64url; empty while pushes are off */
  push_key: string;
  /** Whether a contact of the plan is told by pushes to your browsers */
  pushed: boolean;
  /** Your browsers that take pushes */
  browsers: PushBrowser[];
}

export interface AlarmRates {
  from: Time;
  to: Time;
  /** That were annunciated */
  alarms: number;
  /** ISA-18.2: about 6 are acceptable for an operator, 12 can just be attended to */
  per_hour: number;
  /** The most within ten minutes */
  peak: number;
  /** The part of the time in which there were more than ten within ten minutes, from 0 to 1 */
  flood: number;
  by_priority: Record<string, number>;
  /** The ten that came most often */
  top: AlarmCount[];
  /** Those that came three times or more within a minute */
  chattering: AlarmCount[];
  /** Those that have been active for more than 24 hours now */
  standing: AlarmCount[];
}

/** A rule, which has one alarm for each point that it selects */
export interface AlarmRule {
  /** Small letters, digits, dots, hyphens and underscores */
  name: string;
  /** Patterns of points; each point has an alarm of its own */
  points: string[];
  /** Patterns of points that have none */
  except?: string[];
  /** Tags that the points must have, too */
  tags?: Record<string, string>;
  /** What it looks at. high, low: the value is above or below limit. rate: it changes by more than change within per. stuck: it stays within tolerance for longest. stale: no usable reading arrives for longest. state: it is one of values. discrepancy: it differs from feedback by more than tolerance. expression: a condition on several points holds */
  check: "high" | "low" | "rate" | "stuck" | "stale" | "state" | "discrepancy" | "expression";
  /** Of high and low, which need it, in the unit of the point */
  limit?: number;
  /** Of high, low and rate: how far the value must be back for the alarm to return to normal */
  deadband?: number;
  /** Seconds that the condition must last before the alarm opens */
  on_delay?: number;
  /** Seconds that it must be over before the alarm returns to normal */
  off_delay?: number;
  /** Of rate */
  change?: number;
  /** Of rate, in seconds; 60 if left out */
  per?: number;
  /** Of stuck, stale and expression, in seconds; stale: three times the interval of the point if left out; expression: the same of each input */
  longest?: number;
  /** Of stuck and discrepancy */
  tolerance?: number;
  /** Of state: the values that are an alarm, as text */
  values?: string[];
  /** Of discrepancy: the point to compare with; {1} to {9} stand for the segments of the path of the rule's point */
  feedback?: string;
  /** Of expression: a condition such as supply - return < 2 and pump == 1, with or, not, + - * /, abs, min, max and parentheses. A name is that of an input, value is the rule's point, and {path} a point. With an input that has no usable reading, or none for longest or three of its intervals, the rule cannot be judged: no alarm opens or returns to normal */
  expression?: string;
  /** Of expression: the points by name; {1} to {9} as in feedback */
  inputs?: Record<string, string>;
  /** medium if left out */
  priority?: "low" | "medium" | "high" | "critical";
  /** Whether the alarm stays until an operator resets it */
  latching?: boolean;
  /** In a group the alarm that opens first is marked; {1} to {9} as in feedback */
  group?: string;
  /** While this point has one of suppress_values, the alarm is suppressed by design; {1} to {9} as in feedback */
  suppress_point?: string;
  suppress_values?: string[];
  /** What is wrong, for the operator; made of the check if left out */
  message?: string;
  /** What happens if nobody acts */
  consequence?: string;
  /** What the operator does */
  response?: string;
}

export interface AlarmRules {
  rules: KeptAlarmRule[];
}

export interface Alarms {
  alarms: Alarm[];
  /** How many there are, also those beyond the limit */
  all: number;
  /** How many are annunciated; the others are shelved, suppressed or out of service */
  open: number;
  /** Since when more new alarms come than an operator can attend to (ISA-18.2: more than ten within ten minutes); null for no flood */
  flood: string | null;
  /** New alarms within the last ten minutes */
  recent: number;
  /** The descendants of the node, and whether their alarms are known */
  nodes: NodeAlarms[];
  /** Changes with the list of the node's own alarms */
  version: string;
  /** Whether the list has the version that known names, and is left out */
  same: boolean;
}

export interface Alert {
  /** Who raised it */
  agent: string;
  /** What it is about, as the agent calls it */
  key: string;
  severity: "info" | "warning" | "critical";
  /** For people */
  text: string;
  /** Since when it is so */
  first: Time;
  /** When the agent said so last */
  last: Time;
  /** How often it said so */
  count: number;
  /** The device that it is of waits for somebody to acknowledge it */
  unacknowledged?: boolean;
}

export interface Alerts {
  alerts: Alert[];
  /** How many messages about alerts the node refused since it started, because they were wrong or an agent had too many open */
  refused: Count;
}

export interface AllApplications {
  applications: ApplicationState[];
}

export interface AllRules {
  /** By destination, in the order of the configuration */
  rules: RuleState[];
  /** What became of withheld readings, by destination */
  kept: HeldState[];
}

export interface AllSinks {
  /** In the order of the configuration */
  sinks: SinkState[];
}

export interface AllSources {
  /** In the order of the configuration */
  sources: SourceState[];
}

export interface Annotation {
  /** Of the annotation to change; left out for a new one */
  id?: string;
  from: Time;
  /** From for a moment */
  to: Time;
  text: string;
  /** That it is about; all if left out */
  points?: string[];
  /** Who wrote it; the node fills it in */
  by?: string;
}

export interface Annotations {
  annotations: NotedAnnotation[];
}

export interface ApplicationCommand {
  name: string;
  /** Without it this one */
  node?: string;
  point: string;
  level: number;
  min: number;
  max: number;
  /** How far a value may be from the present one; without it any distance */
  step?: number;
  /** Seconds between two of them, at least */
  every: number;
  /** Seconds, at most */
  lease: number;
  accepted: Count;
  refused: Count;
  failed: Count;
  last?: ApplicationEvent;
}

export interface ApplicationEvent {
  time: Time;
  topic?: string;
  value?: number;
  /** accepted, pending, released, refused or failed */
  status: string;
  why?: string;
}

export interface ApplicationState {
  name: string;
  /** Its clients */
  connected: number;
  /** Patterns of the points whose readings it gets */
  status: string[];
  published: Count;
  accepted: Count;
  /** Requests, and what else its clients tried */
  refused: Count;
  failed: Count;
  commands: ApplicationCommand[];
  /** The last ones, newest first */
  events: ApplicationEvent[];
}

export interface Approval {
  requester: string;
  id: string;
  agree: boolean;
}

export interface Audit {
  entries: AuditEntry[];
  /** The before of the next page; 0 if this is the last */
  next: Count;
  /** Archives that may hold more entries of those that were asked for, and are not in the folder */
  absent?: AuditArchive[];
}

export interface AuditArchive {
  /** Its name in the folder audit.archive */
  file: string;
  first: Count;
  last: Count;
  /** The earliest time of an entry */
  from: Time;
  to: Time;
  /** Of the file */
  sha256: string;
  octets: number;
  /** The file is in the folder */
  here: boolean;
  /** By the node, because it was kept for long enough */
  removed: boolean;
}

export interface AuditEntry {
  seq: Count;
  segment: Count;
  time: Time;
  /** person:<name>, token:<name>, agent:<name> or node */
  actor: string;
  action: string;
  subject: string;
  /** ok, or why it did not happen */
  outcome: string;
  /** More */
  detail?: unknown;
  /** SHA-256, hexadecimal */
  hash: string;
}

export interface AuditProblem {
  seq: Count;
  detail: string;
  /** By whom, when and why it was accepted; absent if it was not */
  accepted?: string;
}

export interface AuditReport {
  whole: boolean;
  entries: Count;
  /** The number of the first entry; 0 if there is none */
  first: Count;
  segments: Count;
  /** Number and hash of the last entry, to be kept elsewhere */
  head: string;
  problems: AuditProblem[];
  /** Problems that are not listed */
  more: Count;
  archives?: AuditArchive[];
}

export interface Bucket {
  start: Time;
  end: Time;
  count: Count;
  bad: Count;
  expected: Expected;
  mean: Figure;
  min: Figure;
  max: Figure;
  sum: Figure;
  first: Figure;
  last: Figure;
  /** Of the functions asked for, by name */
  values?: Record<string, Figure>;
}

export interface Bus {
  started: Time;
  /** Connections; the first 1000 are listed */
  total: number;
  subscriptions: Count;
  /** That were cut off since the start */
  slow_consumers: number;
  in: Traffic;
  out: Traffic;
  connections: BusConnection[];
}

export interface BusConnection {
  id: Count;
  /** As it calls itself; anything */
  name: string;
  /** As the node knows it: the name of the agent or of the member, or node */
  who: string;
  /** The first characters of its public key */
  key: string;
  /** Empty for a part of the node itself */
  address: string;
  /** Barred is told why it may not come in, and closed */
  role: "node" | "agent" | "reader" | "barred";
  subscriptions: string[];
  /** How many subscriptions there are */
  subscribed: number;
  in: Traffic;
  out: Traffic;
  /** Bytes that wait to be read by it */
  pending: number;
  /** More than 1 MiB waits */
  slow: boolean;
  /** 0 if unknown */
  rtt_ms: number;
  since: Time;
}

export interface BusMessage {
  time: Time;
  subject: string;
  bytes: Count;
  /** The first 4096 bytes; what is no text is replaced */
  text: string;
  /** There is more than text */
  cut: boolean;
  /** It is no text */
  binary: boolean;
}

export interface BusRates {
  time: Time;
  /** That it was counted for */
  seconds: number;
  total: Traffic;
  /** The busiest */
  subjects: SubjectRate[];
  /** Subjects that are not listed; at least so many */
  more: number;
  /** Messages that were counted, but not shown */
  hidden: number;
  /** Messages that came too fast even to be counted, since the stream began */
  dropped: number;
}

/** Dates that schedules share, such as public holidays */
export interface Calendar {
  /** Small letters, digits, dots, hyphens and underscores */
  name: string;
  description?: string;
  dates: CalendarEntry[];
}

export interface CalendarDay {
  date: string;
  name: string;
}

export interface CalendarEntry {
  /** One date, such as 2026-12-24 */
  date?: string;
  /** The first of a row of dates, with last */
  first?: string;
  /** The last of a row of dates */
  last?: string;
  /** A day of each year, such as 12-25; 02-29 is only in leap years */
  yearly?: string;
  /** With weekday and week: a weekday of a month, such as the fourth Thursday in November */
  month?: number;
  /** Alone: each week */
  weekday?: "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";
  /** With weekday: 1 for the first one in the month to 5, -1 for the last */
  week?: number;
  /** Days after Easter Sunday of the Gregorian calendar: -2 for Good Friday, 1 for Easter Monday */
  easter?: number;
  /** Such as New Year's Day */
  name?: string;
}

export interface Calendars {
  calendars: KeptCalendar[];
}

export interface CallResult {
  /** What the method returned */
  result: unknown;
}

export interface Capacity {
  measured: Time;
  /** What this machine carries, in sentences */
  words: string[];
  /** What is used up first by devices that are read each second */
  binds_first: "processor" | "memory" | "disk";
  /** The machine as it was then */
  machine: Record<string, unknown>;
  figures: CapacityFigures;
  carries: Carried[];
}

export interface CapacityFigures {
  /** Seconds of a core from the device to the store */
  cpu_per_sample: number;
  /** Seconds of a core to give one message to one client, the client's own work included */
  cpu_per_delivery: number;
  /** Bytes of the log */
  log_per_sample: number;
  /** Seconds until the disk has 64 KiB, the median */
  flush: number;
  /** Bytes a second that were flushed in pieces of 64 KiB */
  written_per_second: number;
  memory_base: Count;
  /** Bytes, without its points */
  memory_per_device: number;
  /** Bytes */
  memory_per_point: number;
  /** Bytes, both ends of the connection */
  memory_per_client: number;
}

export interface Carried {
  /** Such as devices of 18 points each second */
  what: string;
  number: number;
  /** What is used up first */
  binds: string;
}

export interface Child {
  name: string;
  /** The public half of its key */
  public: string;
  /** What people compare of the key */
  fingerprint: string;
  /** expired: its bundle was not used in time */
  state: "pending" | "approved" | "revoked" | "expired";
  /** Below which its points are; empty: anywhere */
  prefix: string;
  grants: Grants;
  /** Of its program, when it joined */
  version: string;
  /** The ID of the one that it joined with, or empty */
  invitation: string;
  joined: Time;
  changed: Time;
  /** Who changed the state last; empty if nobody had to */
  by: string;
  /** How many keys it has had */
  keys: number;
  /** Until when the key of a bundle is taken that was not used yet; left out: it was used, or does not expire */
  expires?: Time;
  /** Left out if it is not connected */
  online?: AgentOnline;
  /** Why blocks of it are not taken, such as a point outside its prefix; empty if they are */
  refusal: string;
}

export interface Children {
  children: Child[];
}

export interface Cluster {
  /** Whether the node is one of several replicas; without that everything else is empty */
  replicated: boolean;
  /** The replica that answers */
  self: string;
  /** Replicas that it reaches now, itself too */
  reached: number;
  /** How many must have a block on disk before it is acknowledged */
  majority: number;
  /** minority: nothing is acknowledged here */
  state: "ok" | "degraded" | "minority";
  /** The state in words */
  sentence: string;
  /** What the ledgers of all replicas say together */
  ledger: string;
  /** Whether all replicas have stored all that any of them had acknowledged at the time until */
  lossless: boolean;
  /** Up to when that is known */
  until?: Time;
  /** Samples that were acknowledged until then */
  confirmed: Count;
  /** By name */
  replicas: Replica[];
}

export interface CommandResults {
  results: Commanded[];
}

export interface CommandSelection {
  /** Another one, such as agent:tune */
  requester?: string;
  /** With those below it, of a device or branch */
  point?: string;
  id?: string;
  /** From 1 to 16 */
  level?: number;
  task?: string;
  /** Of a release: every command and every reservation */
  all?: boolean;
  /** Of a renewal: seconds from now; without it as long as each was */
  lease?: number;
}

export interface Commanded {
  id: string;
  point: string;
  /** pending: a second person must agree; failed: the device refused it, so that it ended, and its level is as it was before */
  status: "accepted" | "pending" | "refused" | "failed";
  /** The point follows it */
  wins: boolean;
  /** When the lease or the time to approve ends */
  until?: Time;
  /** When the point can follow, if a rate or minimum time holds it back: the output is then waiting */
  later?: Time;
  /** It was decided before */
  repeat?: boolean;
  /** idle, writing, waiting, held, differs, mismatch, failed or unknown */
  output?: string;
  reported?: Value;
  error?: ControlError;
}

export interface CompletenessMap {
  from: Time;
  to: Time;
  /** Seconds */
  step: number;
  rows: CompletenessRow[];
  /** The "after" of the next page; empty if this is the last */
  next: string;
}

export interface CompletenessRow {
  path: string;
  points: Count;
  /** Of the expected samples those with a usable value */
  present: number;
  /** Samples that the intervals of the points ask for */
  expected: number;
  /** Cell i is about the time from from + i·step, from 0 to 1; null if nothing was expected in it */
  coverage: (number | null)[];
}

/** Something that is not well */
export interface Concern {
  part: "recorder" | "replicas" | "store" | "history" | "audit" | "state" | "metering" | "control" | "devices" | "registers" | "agents" | "alarms" | "alerts" | "approvals" | "configuration" | "nodes" | "destinations" | "uplink";
  severity: "warning" | "critical";
  /** What it is about: a path, a line, an agent, a node; empty for the node itself */
  subject: string;
  /** For people; may hold text of devices and agents */
  sentence: string;
  /** A fault kind, of devices */
  kind?: string;
  /** null: unknown */
  since: string | null;
  /** The page that shows it, from the root of the node's page */
  link: string;
}

export interface Config {
  file: string;
  text: string;
  /** Of the text, 16 hexadecimal digits */
  version: string;
  /** The node runs by this text; false after a change by hand */
  applied: boolean;
  /** Sections that differ from what runs, and need a new start */
  restart: string[];
  /** Newest first */
  history: ConfigVersion[];
}

export interface ConfigApplied {
  version: string;
  changes: ConfigChanges;
}

export interface ConfigChanges {
  /** Paths of devices */
  added: string[];
  /** Paths of devices */
  removed: string[];
  /** Paths of devices, which begin anew */
  changed: string[];
  /** Sections that only a new start of the node takes over */
  restart: string[];
  /** The same in sentences, shortened if there are many */
  words: string[];
}

export interface ConfigCheck {
  problems: ConfigProblem[];
  changes: ConfigChanges;
}

export interface ConfigProblem {
  /** Empty for the text itself, else a file that it names */
  file: string;
  /** From 1; 0 if unknown */
  line: number;
  /** From 1, in characters; 0 if unknown */
  column: number;
  /** Of the key, such as devices[3].interval */
  path: string;
  /** What is wrong, and what to write instead */
  detail: string;
}

export interface ConfigText {
  version: string;
  time: Time;
  user: string;
  text: string;
}

export interface ConfigVersion {
  version: string;
  time: Time;
  /** Empty for a change by hand */
  user: string;
}

export interface ControlDecided {
  status: "accepted" | "pending";
  until?: Time;
  /** Reservations that gave way */
  lost?: ControlHolder[];
  /** Of a revert: how many go back */
  points?: number;
}

export interface ControlError {
  kind: FaultKind;
  /** What to do */
  message: string;
  /** Of a refusal: invalid, unknown, read-only, range, lease, held, reserved, unreserved, overridden, fenced, interlock, reused, task-exists, not-yours, conflict-in-self, conflict, priority, full or disapproved */
  why?: string;
  /** The capability, as a grant is written */
  missing?: string;
  /** Who stands in the way */
  holders?: ControlHolder[];
}

export interface ControlEvent {
  /** command-started, command-ended, lease-renewed, approval-asked, approval-ended, window-started, window-announced, window-ended, task-made, task-ended, override-started, override-ended, write-confirmed, write-differs, write-failed, write-unknown, point-read, command-restored, mismatch or mismatch-ended */
  event: string;
  /** Such as agent:tune or person:ada */
  requester: string;
  /** Of a reservation */
  task?: string;
  /** Identifier of a command */
  command?: string;
  /** Point, device or branch; of an override its pattern */
  path?: string;
  level?: number;
  from?: Time;
  /** Missing: until it is released */
  until?: Time;
  reason?: string;
  /** Of the leader that commands; of a refusal the newest one */
  fence?: ControlFence;
  time: Time;
  cause?: string;
  value?: Value;
  commanded?: Value;
  wish?: Value;
  by?: string;
  write?: Count;
  fault?: FaultKind;
  /** The device's words */
  text?: string;
}

/** A group of controllers, and the term of its leader */
export interface ControlFence {
  group: string;
  /** From 1; each leader has a higher one than those before */
  term: Count;
  /** Of the term */
  leader?: string;
}

/** Who holds what, and when */
export interface ControlHolder {
  /** Such as agent:tune or person:ada */
  requester: string;
  /** Of a reservation */
  task?: string;
  /** Identifier of a command */
  command?: string;
  /** Point, device or branch; of an override its pattern */
  path?: string;
  level?: number;
  from?: Time;
  /** Missing: until it is released */
  until?: Time;
  reason?: string;
  /** Of the leader that commands; of a refusal the newest one */
  fence?: ControlFence;
}

export interface ControlOverrides {
  overrides: ControlHolder[];
}

export interface ControlPoint {
  point: string;
  device: string;
  /** Of the registry; empty if it has none */
  description: string;
  unit: string;
  kind: "none" | "float" | "int" | "bool" | "text";
  writable: boolean;
  default: Value;
  /** What it is set to when its last command ended */
  revert: "relinquish" | "default" | "before";
  policy?: ControlPolicy;
  /** The levels that are taken, the most urgent first */
  array: ControlSlot[];
  /** Its device has a priority array of its own for it, see listPriorities */
  array_in_device: boolean;
  overrides: ControlHolder[];
  /** The reservation that holds it now */
  window: ControlHolder | null;
  commanded: Value;
  wish: Value;
  /** The commanded value is what the point goes back to */
  reverting: boolean;
  output: "idle" | "writing" | "waiting" | "held" | "differs" | "mismatch" | "failed" | "unknown";
  held: Value;
  reported: Value;
  observed: Value;
  /** When it goes on, if something holds it back */
  later?: Time;
  /** Of writes, in a row */
  failures: number;
  /** The device's words */
  failed_with?: string;
}

export interface ControlPoints {
  points: ControlPoint[];
  /** The after of the next page; empty if this is the last */
  next: string;
}

/** What a point demands of commands: times in seconds, values in its unit */
export interface ControlPolicy {
  /** Only who has reserved the point */
  reservation?: boolean;
  /** A second person must agree */
  approval?: boolean;
  /** A lease is demanded, of so many seconds at most */
  longest?: number;
  range?: ControlRange;
  /** It follows in steps */
  rate?: Rate;
  /** When a value that the point lost is written again; missing: return, after it could not be read */
  assert?: "return" | "always" | "never";
  /** Seconds between two such writes at least; missing for 60 */
  assert_pause?: number;
  /** How far a reading may be off, in the unit of the point */
  tolerance?: number;
  /** Once on, it stays on for so many seconds */
  min_on?: number;
  /** Once off, it stays off for so many seconds */
  min_off?: number;
  interlocks?: Interlock[];
}

/** Numbers, ends included; a missing end is open */
export interface ControlRange {
  min?: number;
  max?: number;
}

export interface ControlReading {
  point: string;
  time: string | null;
  value: Value;
  kind: "none" | "float" | "int" | "bool" | "text";
  quality: Quality;
  error?: ControlError;
}

export interface ControlReadings {
  readings: ControlReading[];
}

export interface ControlRevert {
  /** With those below it, of a device or branch */
  path: string;
  /** Seconds over which the points go back; without it all go back now */
  spread?: number;
}

/** A level that is taken */
export interface ControlSlot {
  /** Such as agent:tune or person:ada */
  requester: string;
  /** Of a reservation */
  task?: string;
  /** Identifier of a command */
  command?: string;
  /** Point, device or branch; of an override its pattern */
  path?: string;
  level?: number;
  from?: Time;
  /** Missing: until it is released */
  until?: Time;
  reason?: string;
  /** Of the leader that commands; of a refusal the newest one */
  fence?: ControlFence;
  value: Value;
}

export interface ControlSlots {
  commands: ControlSlot[];
}

export interface ControlTask {
  task: string;
  requester: string;
  priority: "high" | "low" | "low-preempt";
  reason: string;
  /** That are left */
  windows: ControlWindow[];
  /** That have begun */
  active: ControlWindow[];
  /** Its first window has begun */
  started: boolean;
  /** It ends soon, for another one */
  preempted: boolean;
}

export interface ControlTasks {
  tasks: ControlTask[];
}

export interface ControlWindow {
  path: string;
  /** Without it now */
  from?: Time;
  /** Does not belong to it */
  to: Time;
}

/** How many there are of what is not well; the summary and the menu of the page say the same */
export interface Counts {
  /** Open alarms, of this node and its descendants: those that operators are told of */
  alarms: number;
  /** Open alarms of this node */
  alarms_here: number;
  alarms_critical: number;
  alarms_high: number;
  alarms_medium: number;
  alarms_low: number;
  /** Of a priority that is not known: a descendant has more than it lists */
  alarms_unlisted: number;
  /** Alarms of this node that are shelved, suppressed or out of service */
  alarms_kept: number;
  /** Rules of alarms of this node that cannot be judged: a point is not there or was not read, or the rule is wrong */
  rules_unjudged: number;
  /** Points whose device did not carry out the last command */
  commands_failed: number;
  /** Points of which it is not known whether the device took the last command */
  commands_unconfirmed: number;
  /** Points that have another value than they were set to */
  commands_differing: number;
  /** Commands that wait for the approval of a second person */
  commands_pending: number;
  /** Devices of this node */
  devices: number;
  devices_disabled: number;
  /** Not read yet, or read by another replica */
  devices_starting: number;
  /** They do not answer */
  devices_silent: number;
  /** They answer, and none of their points can be read */
  devices_unreadable: number;
  /** They answer, and some of their points cannot be read */
  devices_partial: number;
  /** Agents that do not work */
  agents: number;
  /** Descendants, without those that wait for approval */
  nodes: number;
  /** Nodes that wait for approval */
  nodes_pending: number;
  nodes_away: number;
  /** Their data is not taken */
  nodes_refused: number;
  /** They are connected, and data that they recorded a minute ago or earlier waits there */
  nodes_behind: number;
  /** They say that something is wrong with them */
  nodes_unwell: number;
  /** Destinations that are behind or refuse readings */
  destinations: number;
  /** Concerns about something else */
  others: number;
}

export interface Damage {
  file: string;
  from?: Time;
  to?: Time;
  reason: string;
  noticed: Time;
}

/** Tiles on a grid of 12 columns */
export interface Dashboard {
  /** Small letters, digits, dots, hyphens and underscores; home is shown on the home page */
  name: string;
  /** The name if left out */
  title?: string;
  description?: string;
  /** Who sees it: all who may read its points, or its owner only; all if left out */
  sharing?: "all" | "owner";
  tiles: DashboardTile[];
}

export interface DashboardBinding {
  /** The id of the element */
  element: string;
  point: string;
  /** Its value as the text of the element, or its state as the colour; text if left out */
  show?: "text" | "fill";
}

export interface DashboardSite {
  name: string;
  /** Degrees north, WGS 84 */
  latitude: number;
  /** Degrees east, WGS 84 */
  longitude: number;
  /** Its alarms colour the place, and a click leads there */
  branch?: string;
}

export interface DashboardTile {
  kind: "value" | "trend" | "gauge" | "bar" | "state" | "table" | "alarms" | "text" | "picture" | "map";
  /** The description or name of its point if left out */
  title?: string;
  /** The column at the left */
  x: number;
  /** The row at the top */
  y: number;
  /** Columns */
  w: number;
  /** Rows */
  h: number;
  /** Paths; one that is not there is shown as missing */
  points?: string[];
  /** Of a trend; 1d if left out */
  range?: "15m" | "1h" | "1d" | "7d" | "30d";
  /** Where the scale of a gauge or bar begins; 0 if left out */
  min?: number;
  /** Where the scale of a gauge or bar ends; 100 if left out */
  max?: number;
  /** Values below are marked */
  low?: number;
  /** Values above are marked */
  high?: number;
  /** Of a text; an empty line begins a paragraph */
  text?: string;
  /** Of alarms: only those of points below; all if left out */
  branch?: string;
  /** The name of the picture, or of the background of a map */
  drawing?: string;
  /** Of a picture: which element shows which point */
  bindings?: DashboardBinding[];
  /** Of a map */
  sites?: DashboardSite[];
}

export interface DashboardVersion {
  version: number;
  by: string;
  at: Time;
  note: string;
  deleted: boolean;
}

export interface DashboardVersions {
  versions: DashboardVersion[];
}

export interface Dashboards {
  dashboards: ListedDashboard[];
}

export interface Device {
  path: string;
  driver: string;
  line: string;
  /** hung: the driver of its line does not return; elsewhere: another replica may read it, see owner */
  state: "online" | "offline" | "starting" | "disabled" | "hung" | "elsewhere";
  /** The replica that reads it, if that is another one; empty if none does at the moment */
  owner?: string;
  /** Seconds */
  interval: number;
  /** What health says of it or of its line; empty if all is well */
  concern: string;
  /** Why points are bad although the device answers, and what to do; empty if there is nothing */
  problem: string;
  last_read: string | null;
  /** Stays after a recovery; empty if there was none */
  last_error: string;
  /** Of last_error; null if there was none */
  last_error_time: string | null;
  error_kind: string;
  reads: Count;
  failures: Count;
  points: Count;
  /** Samples that the device sent by itself */
  reports: Count;
  /** Reports that were lost before they were taken, one for each time that the device said it lost some */
  lost: Count;
  /** Samples whose time by the device's clock was out of bounds: they have the time of their arrival */
  misdated: Count;
  latency_ms: number;
}

export interface DevicePart {
  /** Of the standard, such as 103 for a three-phase inverter */
  number: number;
  /** In the standard; empty if its definition is not published */
  name: string;
  /** Where it is, such as holding 40070 */
  at: string;
  /** That the device has */
  points: number;
}

export interface Devices {
  devices: Device[];
}

export interface Document {
  owner: string;
  name: string;
  type: "yaml" | "json" | "csv" | "text";
  /** Not in lists */
  text?: string;
  version: Count;
  by: string;
  at: Time;
  note: string;
  /** This version says that the document is gone */
  deleted: boolean;
  /** What the text says, with what it refers to in its place; for agents that ask for the newest version */
  content?: unknown;
}

export interface DocumentCheck {
  problems: ConfigProblem[];
}

export interface DocumentDiff {
  diff: string;
}

export interface DocumentSchema {
  /** A text of JSON; empty if there is none */
  schema: string;
}

export interface Documents {
  documents: Document[];
}

export interface Door {
  node: string;
  addresses: string[];
  /** SHA-256 of the certificate of its authority */
  fingerprint: string;
  /** That certificate, PEM */
  authority: string;
}

export interface Drawing {
  name: string;
  version: number;
  svg: string;
  /** Those with identifiers */
  elements: DrawingElement[];
}

export interface DrawingElement {
  id: string;
  /** Such as text, rect or g */
  kind: string;
  /** Of a text */
  text: string;
}

export interface Drawings {
  drawings: ListedDrawing[];
}

export interface Driver {
  /** What stands as driver in the configuration */
  kind: string;
  doc: string;
  /** It can find devices by itself */
  searches?: boolean;
  /** JSON Schema of its section: keys in order, with defaults and help */
  schema: Record<string, unknown>;
}

export interface Drivers {
  drivers: Driver[];
}

export interface Gap {
  origin: string;
  first: Count;
  last: Count;
  samples: Count;
  reason: string;
  noticed: Time;
}

export interface Gaps {
  /** The first local day */
  from: string;
  /** The last local day */
  to: string;
  /** Of all pages: channels that lack something of a day, once for each day */
  gaps: Count;
  /** Of all pages */
  intervals: Count;
  /** By priority, then by age with the oldest first */
  list: ToReceive[];
  /** Where the next page begins; left out if there is none */
  next?: string;
  /** Which members of the cluster answered */
  cluster?: MeterAnswered;
}

export interface Health {
  status: "ok" | "degraded" | "failed" | "starting";
  /** good: nothing is wrong; wait: devices were not read yet, or there are none; warn: there are concerns; bad: a concern is critical */
  level?: "good" | "wait" | "warn" | "bad";
  /** One sentence: first what is not well, and then what is */
  summary?: string;
  /** The level in words */
  verdict?: string;
  started?: Time;
  parts?: Part[];
  counts?: Counts;
  /** What is not well, what is critical first; status is ok if there is nothing */
  concerns?: Concern[];
}

export interface HeldCount {
  readings: number;
  kept: number;
}

export interface HeldState {
  sink: string;
  withheld: Count;
  kept: number;
  sending: number;
  released: Count;
  discarded: Count;
  unkept: Count;
}

/** How an origin stands at a node */
export interface Hop {
  /** A node's data directory, name~xxxxxx, or its urgent lane, name~xxxxxx! */
  origin: string;
  /** Whether it is of this node, not of one below it */
  own: boolean;
  produced: Count;
  acknowledged: Count;
  stored: Count;
  refused: Count;
  missing: Count;
  repeated: Count;
  left_out: Count;
  backlog_blocks: Count;
  backlog_samples: Count;
  balanced: boolean;
  /** Samples that the parent of the node has on disk, missing ones and those left out included; none without a parent, or before it was asked */
  above?: Count;
}

export interface InfluxError {
  code: string;
  message: string;
}

export interface InfluxHealth {
  name: string;
  message: string;
  checks: string[];
  status: "pass" | "fail";
}

export interface IngestError {
  /** Of a text; the number of the reading in JSON and SenML */
  line: number;
  point: string;
  kind: FaultKind;
  detail: string;
}

export interface Ingested {
  accepted: Count;
  /** A line that cannot be read counts once */
  refused: number;
  errors: IngestError[];
  /** Readings whose time was out of bounds (ingest.clock_ahead, ingest.clock_behind): they have the time of their arrival and are uncertain(clock) */
  misdated?: number;
}

export interface Interlock {
  guards?: ControlRange;
  /** The point that must be within needs */
  other: string;
  needs: ControlRange;
}

export interface Invitation {
  id: string;
  state: "open" | "used" | "expired" | "cancelled";
  approved: boolean;
  /** What the node is called; empty: it chooses */
  name: string;
  prefix: string;
  grants: Grants;
  created: Time;
  expires: Time;
  /** Who invited */
  by: string;
  used?: Time;
  /** The name of the node that used it, or empty */
  used_by: string;
}

export interface Invitations {
  invitations: Invitation[];
}

export interface Invited {
  invitation: Invitation;
  /** Begins with vb1; a secret until it is used */
  code: string;
  /** The code as a picture: a row a text, 1 for dark, without a margin; empty if it is too long */
  qr: string[];
  addresses: string[];
}

export interface IssuedOwnToken {
  id: string;
  name: string;
  role: "viewer" | "operator" | "engineer" | "administrator";
  created: Time;
  /** Null: never */
  expires: string | null;
  token: string;
}

export interface IssuedToken {
  name: string;
  under: string;
  token: string;
}

export interface KeptAlarmRule {
  rule: AlarmRule;
  /** Of its document */
  version: number;
  /** Who wrote it */
  by: string;
  /** What is wrong with it, so that it is not looked at; empty if nothing is */
  wrong: string;
  /** Why it is not known now whether its alarms should be open, of up to ten points; they stay as they were */
  unjudged: string[];
}

export interface KeptCalendar {
  calendar: Calendar;
  /** Of its document */
  version: number;
  /** Who wrote it */
  by: string;
  /** What is wrong with it; empty if nothing is */
  wrong: string;
  /** Its next dates within 400 days, ten at most */
  next: CalendarDay[];
}

export interface KeptDashboard {
  dashboard: Dashboard;
  version: number;
  /** Who wrote it */
  by: string;
  at: Time;
}

export interface KeptSchedule {
  schedule: Schedule;
  /** Of its document */
  version: number;
  /** Who wrote it */
  by: string;
  /** What is wrong with it, so that it commands nothing new; empty if nothing is */
  wrong: string;
  /** What it commands; null if it is wrong */
  now: ScheduleChange | null;
  /** Its next change to another value; null for none within 400 days */
  next: ScheduleChange | null;
  /** Points that it cannot command; it tries again each minute */
  problems: ScheduleProblem[];
}

export interface LabExperiment {
  name: string;
  title: string;
  question: string;
  /** Where the published figures come from; empty for none */
  source: string;
  method: string[];
  /** What the figures do not say */
  limits: string[];
  metric: string;
  unit: string;
  higher_is_better: boolean;
  settings: LabSetting[];
  published: LabRow[];
  peers: string[];
}

export interface LabExperiments {
  experiments: LabExperiment[];
}

export interface LabFigure {
  label: string;
  value: number;
}

export interface LabOrder {
  experiment: string;
  settings?: Record<string, string>;
  /** 0 for the default */
  repeats?: number;
  /** Few and small cases */
  quick?: boolean;
  /** 0 for 1 */
  seed?: number;
  /** Measure other programs that are installed there too */
  with_peers?: boolean;
}

export interface LabProgress {
  time: Time;
  phase: string;
  /** voltbus or a peer */
  subject?: string;
  case?: string;
  repeat?: number;
  repeats?: number;
  /** Share of the work */
  done: number;
  /** Operations a second now */
  rate?: number;
  /** Simulated clients that are connected now */
  clients?: number;
  /** The figure of the repeat that has just ended */
  value?: number;
  /** Seconds */
  p50?: number;
  /** Seconds */
  p99?: number;
  /** Cores in use by the run's process */
  cpu?: number;
  /** Bytes resident in the run's process */
  memory?: number;
  message?: string;
}

export interface LabRow {
  case: string;
  figures: LabFigure[];
}

export interface LabRun {
  id: string;
  experiment: string;
  title: string;
  state: "running" | "finished" | "stopped" | "failed";
  started: Time;
  finished: string | null;
  quick: boolean;
  repeats: number;
  /** In sentences */
  verdict: string[];
  /** Why it failed; empty if it did not */
  error: string;
  progress?: LabProgress;
  /** The result.json of a finished run, only where one run is asked for */
  result?: Record<string, unknown>;
}

export interface LabRuns {
  runs: LabRun[];
}

export interface LabSetting {
  name: string;
  default: string;
  /** The default of a quick run; empty for the same */
  quick: string;
  doc: string;
}

export interface LastSent {
  /** When its seven days begin; 0001-01-01 if none was sent yet */
  week: Time;
  /** The contacts that have it */
  sent: string[];
  /** Why others do not; it is tried again each ten minutes */
  error: string;
  /** When it was last sent to somebody, or when that failed */
  at: Time;
  /** Who asked for it; empty for the plan */
  by: string;
  /** Whether it is being sent */
  busy: boolean;
}

export interface Latest {
  samples: Sample[];
  sources?: Sources;
}

export interface Ledger {
  state: string;
  reason: string;
  origins: Origin[];
  gaps: Gap[];
  log: Log;
  damaged: Damage[];
  /** Samples in the place of which another value of the same point and time was stored; repeats do not count */
  overwritten: Count;
  /** Of all nodes: whether something was lost, and what and why */
  sentence?: string;
  sum?: LedgerSum;
  /** This node first, then those below it, each after the one above it */
  nodes?: LedgerNode[];
}

/** An event of the stream about nodes with the ledger: what changed since the one before */
export interface LedgerChange {
  /** Accounts of nodes that are not here are no more; of the first event */
  whole?: boolean;
  /** The fields of a Ledger that changed, without the nodes */
  ledger: Record<string, unknown>;
  /** The accounts that changed, by more than as_of */
  nodes: LedgerNode[];
  /** Paths of the nodes whose accounts are no more */
  gone?: string[][];
}

/** The account of a node, as it said itself */
export interface LedgerNode {
  node: string;
  /** The nodes on the way to it, itself last; empty: this one */
  path: string[];
  /** old: it does not answer, and this is what it said last; silent: it said nothing yet */
  state: "here" | "current" | "old" | "silent";
  as_of?: Time;
  /** Why it is old or silent, or why the state of its ledger is not ok */
  reason: string;
  /** The state of its ledger: ok, paused, backlog */
  ledger: string;
  /** It has a store */
  stores: boolean;
  /** Below which its points lie here */
  prefix: string;
  origins: Hop[];
  gaps: Gap[];
  /** Samples in the place of which its store has another value of the same time; left out if none */
  overwritten?: Count;
}

/** samples = stored + missing + left_out + waiting, over all origins */
export interface LedgerSum {
  nodes: Count;
  /** Of them those whose word is old or missing */
  old: number;
  origins: Count;
  /** Acknowledged where they were produced */
  samples: Count;
  /** At this node */
  stored: Count;
  left_out: Count;
  missing: Count;
  /** On their way */
  waiting: Count;
  /** That were never acknowledged */
  refused: Count;
  repeated: Count;
  /** At this node: of those stored, in the place of which another value of the same time is */
  overwritten: Count;
}

export interface ListedDashboard {
  name: string;
  /** The name if it has none */
  title: string;
  /** all or owner */
  sharing: string;
  /** How many it has */
  tiles: number;
  version: number;
  /** Who wrote it */
  by: string;
  at: Time;
  /** What is wrong with its document; empty if nothing is */
  wrong: string;
}

export interface ListedDrawing {
  name: string;
  version: number;
  by: string;
  at: Time;
}

/** One direction of a link for live messages */
export interface LiveFlow {
  /** What is wanted at the other end, with wildcards of the bus */
  subjects: string[];
  /** How many subjects that are; 0: nothing travels */
  wanted: number;
  messages: Count;
  /** On the link */
  octets: Count;
  /** Messages that the link did not carry in time */
  dropped: Count;
  /** What is wanted at the parent and does not go up; absent if there is nothing, or if the child does not know how to say it */
  withheld?: LiveWithheld[];
}

/** How live messages go over the link between a node and its parent, since the start of the one that answers. In an answer about nodes it is that between a child and the one that answers; of the one that answers, that to its parent. */
export interface LiveLink {
  connected: boolean;
  since?: Time;
  up: LiveFlow;
  down: LiveFlow;
  /** Messages that the one that answers did not take */
  refused: Count;
  /** Why the last of them was refused; empty for none */
  reason: string;
}

export interface LiveWithheld {
  /** As it is wanted, with wildcards of the bus */
  subject: string;
  /** That withholds it */
  node: string;
  /** Some of it comes */
  part?: boolean;
  /** What its uplink.allow lacks, such as subscribe **, in its names */
  allow: string;
}

export interface Log {
  bytes: Count;
  max_bytes: Count;
  blocks: Count;
  dropped_blocks: Count;
  dropped_samples: Count;
}

export interface MQTTCertificate {
  name: string;
  certificate: string;
  key: string;
  authority: string;
  expires: Time;
}

export interface MQTTCertificates {
  devices: MQTTCertificate[];
}

export interface MQTTClient {
  client: string;
  device: string;
  address: string;
  version: string;
  connected?: Time;
  /** In seconds */
  expiry: number;
  subscriptions: number;
  waiting: number;
  dropped: Count;
}

export interface MQTTClients {
  clients: MQTTClient[];
  more: boolean;
}

export interface MQTTDevice {
  name: string;
  kind: string;
  /** When the certificate that it was given ends */
  certificate?: Time;
  created: Time;
  changed: Time;
}

export interface MQTTDevices {
  devices: MQTTDevice[];
  total: number;
  more: boolean;
}

export interface MQTTSecret {
  name: string;
  kind: string;
  secret: string;
}

export interface MQTTSecrets {
  count: number;
  devices: MQTTSecret[];
}

export interface MQTTStatus {
  /** Whether the node has a broker; without one all counts are 0 */
  broker: boolean;
  devices: number;
  connected: number;
  sessions: number;
  subscriptions: number;
  retained: number;
  waiting: number;
  connects: Count;
  refused: Count;
  received: Count;
  delivered: Count;
  recorded: Count;
  samples: Count;
  unknown: Count;
  undecoded: Count;
  unauthorized: Count;
  dropped: Count;
  overflow: Count;
  not_recorded: Count;
  not_retained: Count;
}

export interface MQTTUnknown {
  topic: string;
  device: string;
  template: string;
  why: string;
  payload: string;
  count: Count;
  at: Time;
  proposal: string;
}

export interface MQTTUnknowns {
  topics: MQTTUnknown[];
}

export interface MadeDashboard {
  dashboard: Dashboard;
  /** What the device was taken for: air handler, boiler, meter, feeder, room or equipment; building for the home page */
  equipment: string;
}

export interface MeterAnswered {
  /** Whether every meter that the question is about is in the answer; false if a member that keeps some of them did not answer */
  complete: boolean;
  /** That were asked */
  members: MeterAnswerer[];
}

export interface MeterAnswerer {
  /** Of its node */
  name: string;
  answered: boolean;
  /** Why it did not answer */
  error?: string;
}

export interface MeterArrival {
  /** Seconds after the end of the interval */
  within: number;
  readings: Count;
}

export interface MeterBill {
  /** That were read, the first one first */
  meters: string[];
  from: Time;
  to: Time;
  unit: string;
  tariff?: string;
  /** Of its document */
  tariffVersion?: number;
  /** In the order of the tariff */
  periods: MeterPeriod[];
  registers: MeterRegister[];
  /** Readings at no end of an interval, which do not count */
  stray: number;
}

export interface MeterChannel {
  number: number;
  /** 18 numbers of IEC 61968-9, annex C */
  readingType: string;
  /** IEC 62056-61 */
  obis?: string;
  /** Of the reading type */
  unit?: string;
  /** Seconds; 0 or left out for a register */
  interval?: number;
  /** Of transformers: quantity = reading × multiplier */
  multiplier?: number;
  /** Of the register before the point */
  digits?: number;
  /** Of the register behind it */
  decimals?: number;
}

export interface MeterCluster {
  /** None if the node is in no cluster */
  cluster?: MeterAnswered;
  /** How many members keep each meter */
  copies?: number;
  members: MeterMember[];
  sum: MeterSum;
  /** Whether each reading that any member acknowledged is stored, waiting, refused or lost, and all members answered */
  balanced: boolean;
}

export interface MeterConcentrator {
  /** systems or parent */
  to: string;
  /** The most readings of a request */
  bulk: number;
  /** Seconds that a reading waits at most for the bulk to fill */
  age: number;
  /** Readings that were acknowledged to meters; to a parent: samples of the log */
  taken: Count;
  /** Of them those that were taken further on */
  sent: Count;
  /** Those that a system refused */
  refused: Count;
  /** Samples that the log dropped before they were sent */
  lost: Count;
  /** Those that are still to be sent */
  waiting: Count;
  /** When the oldest of those was recorded that are being sent */
  oldest?: Time;
  /** Readings sent a second, over the last ten seconds */
  rate: number;
  /** That were answered, since the start */
  requests: Count;
  /** What became of events of meters, which overtake readings */
  events: MeterEventWay;
  systems: MeterSystem[];
  /** The newest readings that were refused, at most 200 */
  refusals: MeterNotTaken[];
  /** What is wrong here */
  reason?: string;
}

export interface MeterConcentrators {
  /** Whether the node is a metering data system */
  system: boolean;
  /** One if the node is a concentrator */
  concentrators: MeterConcentrator[];
}

export interface MeterDemand {
  /** Quantity an hour: kW for kWh */
  demand: number;
  /** Of the window */
  end?: Time;
  /** That are complete */
  windows: number;
  /** Windows that lack a value do not count */
  incomplete: number;
}

export interface MeterEntry {
  id: string;
  commodity: "electricity" | "gas" | "heat" | "water";
  channels: MeterChannel[];
  servicePoint?: string;
  premises?: string;
  /** Since when it is there */
  from?: Time;
}

export interface MeterEvent {
  /** In the order of recording */
  number: Count;
  meter: string;
  /** By the clock of the meter */
  at: Time;
  /** What it means, such as last-gasp, restoration or tamper; other for a code of which nothing is known */
  kind: string;
  /** Of IEC 61968-9, annex E, as the meter gave it */
  code?: string;
  severity: "information" | "warning" | "critical";
  /** Text of the meter */
  detail?: string;
  /** Since when it is known */
  recorded: Time;
  /** Who sent it */
  who?: string;
}

export interface MeterEventWay {
  /** Events that were taken further on; to a parent: samples of the log */
  sent: Count;
  /** Those that a system refused */
  refused: Count;
  /** Samples that the log dropped before they were sent */
  lost: Count;
  /** Samples of the log with events that are still to be sent */
  waiting: Count;
}

export interface MeterEvents {
  events: MeterEvent[];
  /** Which members had a part in the answer; none if the node is in no cluster */
  cluster?: MeterAnswered;
}

export interface MeterException {
  number: Count;
  /** Of the cluster, whose number it is */
  member?: string;
  meter: string;
  channel: number;
  day: string;
  status: string;
  /** That something was found about */
  intervals: number;
  noticed: Time;
}

export interface MeterExceptions {
  exceptions: MeterException[];
  /** Which members had a part in the answer; none if the node is in no cluster */
  cluster?: MeterAnswered;
}

export interface MeterForward {
  /** The other member */
  to: string;
  /** Readings that were accepted here and are kept there */
  total: Count;
  /** Of them those that it took */
  sent: Count;
  /** Those that it refused */
  refused: Count;
  /** Those that are still to be sent */
  waiting: Count;
  /** Samples that the log dropped before they were sent */
  lost: Count;
  /** Readings from it that arrived here */
  received: Count;
  /** When the oldest of those was recorded that are being sent */
  oldest?: Time;
  state: "ready" | "away";
  /** Since when it is away */
  since?: Time;
  /** Why it is away */
  reason?: string;
  /** Readings sent a second, over the last ten seconds */
  rate: number;
}

export interface MeterHour {
  from: Time;
  /** Intervals */
  expected: Count;
  /** Have a reading */
  received: Count;
  validated: Count;
  doubted: Count;
  estimated: Count;
  edited: Count;
}

export interface MeterJudgement {
  channels: number;
  /** Readings */
  validated: number;
  doubted: number;
  estimated: number;
  exceptions: number;
  /** Which members had a part in the answer; none if the node is in no cluster */
  cluster?: MeterAnswered;
}

export interface MeterMember {
  /** Of its node */
  name: string;
  /** Of the cluster as the member knows it: the same at all */
  digest: string;
  /** Digest of the rules of validation: the same at all */
  rules: string;
  /** That are registered here */
  meters: number;
  /** Readings that were sent to this member and acknowledged */
  accepted: Count;
  /** Of them those that it keeps itself */
  kept: Count;
  /** Of them those that no member keeps: from child nodes, with an impossible point or time */
  unusable: Count;
  /** Readings that other members forwarded */
  received: Count;
  /** Of those kept and received */
  stored: Count;
  /** Of those kept and received, the ones that wait for the store */
  unstored: Count;
  /** Of those stored, the ones that wait for their meter to be registered */
  strays: Count;
  /** To each other member */
  forwards: MeterForward[];
  /** Whether accepted = kept + unusable + what was or will be forwarded, and that = sent + refused + waiting for each member */
  balanced: boolean;
}

export interface MeterMemberAnswer {
  result?: unknown;
  /** Why the operation failed, in place of a result */
  failed?: MeterMemberFailure;
}

export interface MeterMemberFailure {
  kind: string;
  subject?: string;
  detail: string;
}

export interface MeterMissing {
  day: string;
  /** Intervals */
  expected: Count;
  received: Count;
  /** That lack something */
  channels: Count;
  list: MeterMissingEntry[];
  more: boolean;
  /** Which members had a part in the answer; none if the node is in no cluster */
  cluster?: MeterAnswered;
}

export interface MeterMissingEntry {
  meter: string;
  channel: number;
  ends: Time[];
}

export interface MeterNet {
  import: number;
  export: number;
  /** import - export */
  net: number;
  /** Netted in each interval: the sum of what is above 0 */
  netImport: number;
  /** and of what is below */
  netExport: number;
  /** Intervals in which one of the two is missing count to neither */
  missing: number;
}

export interface MeterNotTaken {
  meter: string;
  /** The kind of an event, whose time is end */
  event?: string;
  channel?: number;
  readingType?: string;
  end: Time;
  value: number;
  reason: string;
  system: string;
  /** When it was refused */
  time: Time;
}

export interface MeterPeriod {
  period: string;
  quantity: number;
  /** Of the period */
  intervals: number;
  /** Of them those without a value */
  missing: number;
  estimated: number;
  edited: number;
  /** The highest */
  demand?: MeterDemand;
  /** Of consumption and what was fed in */
  net?: MeterNet;
}

export interface MeterProgress {
  day: string;
  /** Of the local day: 23 or 25 when the clock changes */
  hours: MeterHour[];
  /** How late readings came, the shortest time first */
  arrived: MeterArrival[];
  /** Which members had a part in the answer; none if the node is in no cluster */
  cluster?: MeterAnswered;
}

export interface MeterRead {
  meter: string;
  channel?: number;
  /** unknown: no point is mapped to the meter */
  outcome: "answered" | "timed-out" | "unreachable" | "refused" | "unknown" | "failed";
  /** Why it did not answer, or its value is no reading */
  reason?: string;
  value?: number;
  /** When it had the value */
  at?: Time;
  /** Whether the value is a reading now */
  recorded: boolean;
}

export interface MeterReadings {
  meter: string;
  channel: number;
  unit?: string;
  readings: MeterVersion[];
  /** Which members had a part in the answer; none if the node is in no cluster */
  cluster?: MeterAnswered;
}

export interface MeterReads {
  /** As it was given, or made */
  correlation: string;
  started: Time;
  /** In the order of the meters */
  outcomes: MeterRead[];
}

export interface MeterRefusal {
  /** In the list that was sent */
  index: number;
  reason: string;
}

export interface MeterRegister {
  meter: string;
  channel: number;
  unit: string;
  /** What it read at the first bill date */
  first: number;
  /** and at the last one */
  last: number;
  /** Between them, with the multiplier */
  used: number;
  /** Between readings within 24 hours around a bill date */
  interpolated: boolean;
  /** Why nothing is known of it */
  unknown?: string;
}

export interface MeterRegistered {
  added: number;
  /** Were there with the same channels */
  known: number;
  /** Readings that came before their meter */
  adopted: number;
  refused: MeterRefusal[];
  /** Which members had a part in the answer; none if the node is in no cluster */
  cluster?: MeterAnswered;
}

export interface MeterSum {
  /** Acknowledged by any member */
  accepted: Count;
  /** By the members that keep them */
  stored: Count;
  /** For another member, or for the store */
  waiting: Count;
  /** By the member that keeps the meter, after they were acknowledged */
  refused: Count;
  /** Samples that a log dropped before they were forwarded */
  lost: Count;
  /** That arrived at a member more than once, after a failure; they are stored once */
  repeated: Count;
  /** Taken by another member */
  forwarded: Count;
}

export interface MeterSystem {
  url: string;
  /** ready, or failing */
  state: string;
  /** Why it is failing */
  reason?: string;
  /** Since when */
  since?: Time;
  /** When it is tried again */
  next?: Time;
  /** That it answered, since the start */
  requests: Count;
  /** Requests without a usable answer, since the start */
  failed: Count;
  /** Readings that it took, since the start */
  sent: Count;
}

export interface MeterTaken {
  /** Readings that are on disk */
  accepted: number;
  refused: MeterRefusal[];
}

export interface MeterVersion {
  /** Of the interval */
  end: Time;
  value: number;
  stage: "raw" | "validated" | "estimated" | "edited";
  /** What validation doubts */
  status?: string;
  /** Since when it is known */
  recorded: Time;
  who?: string;
  rule?: string;
  reason?: string;
}

export interface Meters {
  meters: MeterEntry[];
  /** Which members had a part in the answer; none if the node is in no cluster */
  cluster?: MeterAnswered;
}

export interface Method {
  name: string;
  doc: string;
  params: Param[];
  /** Its type, in words */
  result: string;
  /** Capabilities that other agents must hold to call it */
  needs?: string[];
}

export interface Methods {
  methods: Method[];
}

export interface Neighbour {
  /** Of the device, made readable; empty if it has none */
  name: string;
  /** What and where it is */
  detail: string;
  /** What to know before it is added; empty for nothing */
  note: string;
  /** What the search found out for its configuration */
  config: Record<string, unknown>;
  /** Columns of a table of devices, such as vendor, model, instance, address and objects, as far as the device tells them */
  facts: Record<string, string>;
  /** Path of the device in the configuration; empty if it is new */
  device: string;
  /** What the device consists of, such as the models of SunSpec; empty if its protocol has no parts */
  parts: DevicePart[];
}

/** What is wrong with one of many commands is in its result */
export interface NewCommand {
  /** Unique for who asks, at most 255 bytes: a repeat gets the first answer */
  id?: string;
  /** Needed */
  point?: string;
  /** Needed: a number, true, false or a text */
  value?: unknown;
  /** From 1, the most urgent, to 16: the smallest wins; left out: 8, of agents 16 */
  level?: number;
  /** Seconds after which it ends by itself; without it when it is released */
  lease?: number;
  /** For people */
  reason?: string;
  /** The own reservation that it belongs to */
  task?: string;
  /** Of the leader that commands: once a newer leader of its group commanded anything at the node, it is refused as fenced */
  fence?: ControlFence;
}

export interface NewCommands {
  commands: NewCommand[];
  /** Seconds to wait for what devices say; 0 to wait only until it is decided and kept */
  wait?: number;
}

export interface NewOverride {
  id?: string;
  pattern: string;
  reason?: string;
  /** Seconds; without it until it is cleared */
  length?: number;
  /** Every command of the points ends and they go back first */
  failsafe?: boolean;
}

export interface NewTask {
  /** Unique for who asks: a repeat gets the first answer */
  id?: string;
  /** Its name */
  task: string;
  /** high: gives way to nobody and takes the place of others; low: gives way until it begins; low-preempt: always gives way */
  priority?: "high" | "low" | "low-preempt";
  reason?: string;
  windows: ControlWindow[];
}

/** Figures are 0, texts empty where the node does not say. */
export interface Node {
  name: string;
  /** here: it is the one that answers */
  state: "here" | "connected" | "away";
  /** Since when it is away; of a child that is connected, since when it is */
  since?: Time;
  /** Its parent; empty without one */
  parent: string;
  /** The nodes from below the one that answers to this one; empty for itself */
  path: string[];
  /** Below which its points are here */
  prefix: string;
  /** Of its blocks */
  origins: string[];
  /** When it said what follows, by the clock of the one that answers; missing: never */
  heard?: Time;
  version: string;
  /** collector (it has devices), concentrator (it has children), store, agents, child (it has a parent) */
  roles: string[];
  /** By its clock */
  started?: Time;
  /** Its way to its parent: connecting, connected, refused, pending, revoked; empty without a parent */
  link: string;
  /** Why it is not connected, or why its data is not taken */
  link_note: string;
  /** Of a report to its parent and the answer, in milliseconds */
  rtt_ms: number;
  /** Its clock less that of its parent, as it measured, in milliseconds */
  offset_ms: number;
  /** The same, as its parent measured; only of children of the one that answers */
  skew_ms?: number;
  /** Samples that its parent does not have yet */
  waiting: Count;
  /** Of them in its log, about */
  waiting_octets: Count;
  /** When the oldest of them was recorded, by its clock */
  waiting_since?: Time;
  /** Bytes left for its data */
  disk: number;
  disk_size: number;
  /** The temperature of the board, if it tells */
  celsius?: number;
  /** Bytes */
  memory: number;
  /** Processors in use */
  cpu: number;
  devices: number;
  /** Those that do not answer */
  devices_failing: number;
  /** Of its own devices */
  points: number;
  agents: number;
  /** Those that end again and again, or say that they are bad */
  agents_failing: number;
  /** Open alarms of the node, of which alerts of agents are some */
  alerts: number;
  /** ok, degraded; empty: unknown */
  health: string;
  /** What a person should know, such as that it went back to an older configuration */
  note: string;
  /** When it was away, the newest first; only of children of the one that answers */
  outages?: Outage[];
  received?: Received;
  live?: LiveLink;
}

export interface NodeAlarms {
  node: string;
  /** Whether its alarms are those of now; if not, those listed are the last that were known, and others may have opened */
  known: boolean;
  /** When they were known last; null if they were not since this node started */
  at: string | null;
  /** How many were annunciated then */
  open: number;
  all: number;
  /** Why they are not known */
  reason: string;
}

export interface NodeLog {
  entries: NodeLogLine[];
  /** The number to ask for what follows with */
  last: Count;
  /** Records behind the number that was asked with that are not kept any more */
  lost?: Count;
}

/** Texts may come from devices and other programs */
export interface NodeLogLine {
  /** Grows with each record, also over a new start */
  number: Count;
  time: Time;
  level: "debug" | "info" | "warning" | "error";
  message: string;
  extra?: Record<string, unknown>;
}

export interface NodeLogLost {
  count: Count;
}

export interface Nodes {
  nodes: Node[];
  /** The parent and those above it, the nearest first */
  above: string[];
  /** Descendants of this node that its parent does not let into the tree */
  refused: RefusedNode[];
}

/** An event of the stream about nodes: what changed since the one before */
export interface NodesChange {
  /** Nodes that are not here are no more; of the first event */
  whole?: boolean;
  /** Of each node that changed its name, and those fields of a Node that changed; null for one that is no more */
  nodes: NodeChange[];
  /** Names of those that are no more */
  gone?: string[];
  /** As of Nodes, if it changed */
  above?: string[];
  /** As of Nodes, if it changed */
  refused?: RefusedNode[];
}

export interface NotedAnnotation {
  id: string;
  from: Time;
  to: Time;
  text: string;
  /** That it is about; empty for all */
  points: string[];
  /** Who wrote it */
  by: string;
  /** When it was written */
  at: Time;
  version: number;
}

export interface Origin {
  /** A node's data directory, name~xxxxxx, or its urgent lane, name~xxxxxx! */
  origin: string;
  /** Whether it is of this node, not of one below it */
  own: boolean;
  produced: Count;
  acknowledged: Count;
  stored: Count;
  refused: Count;
  missing: Count;
  repeated: Count;
  left_out: Count;
  backlog_blocks: Count;
  backlog_samples: Count;
  balanced: boolean;
}

/** A time in which a child was not connected. When it greets again, both compare up to which number each has the blocks of each origin on disk: the difference is what waited. */
export interface Outage {
  /** When it was heard of last; if that is not known, when the node that tells began to look */
  from: Time;
  /** Since when nobody knows before from whether it was there, because that node did not run; missing: from was seen */
  unknown?: Time;
  /** When it came back; missing: it has not yet */
  to?: Time;
  /** Samples that were on disk there and not here when it came back */
  waited: Count;
  /** Of them those that are still not on disk here */
  coming: Count;
  /** Of them those that it could not send any more */
  missing: Count;
  /** Of them those that were left out on purpose */
  left: Count;
  /** When the last of them was on disk here; missing: not yet */
  done?: Time;
  /** The ancestor that counted this, on whose disk here means; missing: this node */
  at?: string;
}

export interface OwnToken {
  id: string;
  name: string;
  role: "viewer" | "operator" | "engineer" | "administrator";
  created: Time;
  /** Null: never */
  expires: string | null;
}

export interface OwnTokens {
  tokens: OwnToken[];
}

export interface Param {
  name: string;
  /** In words; empty if nobody said */
  type: string;
  /** Left out if it must be given */
  default?: unknown;
  kind: "positional" | "keyword" | "either" | "rest";
}

export interface Parent {
  /** Whether this node has a parent; if not, the rest is empty */
  member: boolean;
  /** Its name */
  parent: string;
  addresses: string[];
  /** Of its authority */
  fingerprint: string;
  /** What it calls this node */
  name: string;
  prefix: string;
  state: "" | "pending" | "approved" | "revoked" | "expired";
  /** The state in words, as the parent said it */
  why: string;
  /** What people compare of the key that the parent knows */
  key_fingerprint: string;
  joined?: Time;
  uplink?: Uplink;
}

export interface Part {
  name: string;
  status: string;
  reason: string;
}

export interface Peer {
  name: string;
  /** It is connected */
  online: boolean;
  /** When it connected */
  since: string | null;
  /** As it says itself; silent after three intervals without a word */
  status: "good" | "bad" | "starting" | "unknown" | "silent" | "offline";
  /** Why, in any form, as the agent says it */
  context?: unknown;
  /** Of the agent, as it says */
  version: string;
  sdk: string;
  host: string;
}

export interface Peers {
  peers: Peer[];
}

export interface People {
  people: Person[];
}

export interface Person {
  name: string;
  role: Role;
  created: Time;
  /** Logs in by name and password */
  password: boolean;
  tokens: Count;
  /** The local administrator, who cannot be changed */
  local: boolean;
}

export interface Point {
  path: string;
  kind: Kind;
  unit: string;
  description: string;
  writable: boolean;
  device: string;
  /** Seconds; 0 if unknown */
  interval: number;
  tags: Record<string, string>;
}

export interface Points {
  points: Point[];
  /** The "after" of the next page; empty if this is the last */
  next: string;
}

export interface Priorities {
  point: string;
  /** Those in use, the most urgent first */
  levels: Priority[];
  /** The relinquish default of the device; null if it does not tell */
  default: Value;
  /** The level at which this node commands it now; 0 if at none */
  own: number;
}

export interface Priority {
  level: number;
  value: Value;
}

export interface Problem {
  type: string;
  title: string;
  status: number;
  detail: string;
  kind: FaultKind;
  subject?: string;
  instance: string;
  /** The other node that says so, if it is not the one that was asked */
  node?: string;
  /** Of a refusal there: the capability, as a grant is written */
  missing?: string;
  ingested?: Ingested;
  /** All that is wrong with a configuration */
  problems?: ConfigProblem[];
  raised?: Raised;
  /** Of a refusal of control, for programs: held, reserved, conflict, and others */
  why?: string;
  /** Who stands in the way */
  holders?: ControlHolder[];
}

export interface Process {
  name: string;
  state: "stopped" | "starting" | "running" | "backing-off" | "failed" | "stopping" | "elsewhere";
  /** The replica that runs it, if that is another one */
  owner?: string;
  since: Time;
  /** What a person should know */
  text?: string;
  /** What health says of it; absent if all is well */
  concern?: string;
  version: number;
  /** The version that its makers gave it */
  release?: string;
  title?: string;
  installed: Time;
  /** Versions to go back to, the oldest first */
  previous: number[];
  priority: number;
  /** Empty: as it was */
  autostart: "" | "enabled" | "disabled";
  pid?: number;
  /** How often it ended in a row */
  failures: number;
  next_start?: Time;
  /** Bytes resident, with all its processes */
  memory: number;
  /** Processors, over the last second */
  cpu: number;
  processes: number;
  /** Bytes; 0 for the default of the node */
  memory_limit: number;
  /** Of user, landlock and seccomp */
  isolation: string[];
  last_end?: ProcessEnd;
  /** Names of the reports */
  crashes: string[];
  /** The grants that it wants */
  wants?: Record<string, unknown>;
  /** JSON Schema of its configuration; not in lists */
  config_schema?: Record<string, unknown>;
  /** What it answers, as its package says; not in lists */
  methods?: Record<string, unknown>[];
}

export interface ProcessCrash {
  at: Time;
  reason: "stopped" | "exited" | "killed" | "memory" | "hung" | "unable";
  text: string;
  /** The exit code, -1 after a signal */
  code: number;
  signal?: string;
  /** Seconds */
  uptime: number;
  agent: string;
  version: number;
  memory_limit: number;
  /** Most bytes that were seen */
  max_memory: number;
  lines: ProcessLine[];
}

export interface ProcessEnd {
  at: Time;
  reason: "stopped" | "exited" | "killed" | "memory" | "hung" | "unable";
  text: string;
  /** The exit code, -1 after a signal */
  code: number;
  signal?: string;
  /** Seconds */
  uptime: number;
}

export interface ProcessLine {
  time: Time;
  level: string;
  stream: "stdout" | "stderr" | "node";
  logger?: string;
  message: string;
  extra?: Record<string, unknown>;
}

export interface ProcessLog {
  entries: ProcessLine[];
}

export interface Processes {
  processes: Process[];
  /** What this node can isolate agents by */
  isolation: string[];
  /** Why agents have no users of their own here */
  why_not?: string;
}

export interface Prometheus {
  status: "success";
  data: unknown;
}

export interface PushBrowser {
  id: string;
  name: string;
  /** The host of its push service */
  service: string;
  since: Time;
}

/** What a method of an agent raised instead of an answer */
export interface Raised {
  type: string;
  message: string;
  args?: unknown[];
}

export interface Range {
  series: Series[];
  completeness: Completeness;
  from: Time;
  to: Time;
  step?: number;
  next: Next;
  sources?: Sources;
}

export interface Rate {
  /** The size of a step at most */
  most: number;
  /** Seconds between two steps at least */
  per: number;
}

/** What came from a child since the start of the one that answers */
export interface Received {
  blocks: Count;
  samples: Count;
  octets: Count;
  /** Samples that were here already */
  repeated: Count;
  /** Samples that it could not send any more */
  missing: Count;
  /** Samples that were left out on the way */
  left: Count;
  /** Frames that came too fast; they come again */
  dropped: Count;
  /** Why its last block was not taken; empty if it was */
  reason: string;
}

export interface RefusedNode {
  name: string;
  why: string;
}

export interface Replica {
  name: string;
  /** Where it listens for the others */
  address: string;
  /** By the replica that answers */
  reached: boolean;
  /** Since when it is reached, or not */
  since: Time;
  /** joining: it was added and has not started yet; leaving: it is being removed; drained: it may be stopped; witness: it has the logs, and neither clients nor devices */
  state: "member" | "joining" | "leaving" | "draining" | "drained" | "witness";
  /** What it waits for, or what is not well with it */
  note?: string;
  /** Of its program; empty if it has told nothing yet */
  version: string;
  started?: Time;
  /** MQTT clients that are connected to it */
  clients: number;
  /** Free bytes of its data directory */
  disk: number;
  /** Bytes */
  disk_size: number;
  /** files, none for a witness, or the name of a database */
  store: string;
  /** What it recorded, in blocks */
  log: ReplicaLog;
  /** How far each other replica has it */
  copies: ReplicaCopy[];
}

export interface ReplicaCopy {
  replica: string;
  /** Entries of the log that are not on its disk */
  behind: Count;
  /** Blocks that it has not stored */
  blocks: Count;
  /** Samples in them */
  samples: Count;
  /** How long the oldest of them waits */
  seconds: number;
  /** Samples that the log had dropped before it stored them */
  missing: Count;
}

export interface ReplicaLog {
  /** The replica that orders its blocks; empty if that is not known */
  leader: string;
  /** Oldest block */
  first: Count;
  /** Newest block */
  last: Count;
  bytes: number;
  /** Samples */
  acknowledged: Count;
}

export interface RuleState {
  sink: string;
  rule: string;
  check: "range" | "rate" | "stuck" | "difference" | "ratio" | "residual" | "function";
  withheld: Count;
  marked: Count;
  unjudged: Count;
  /** Why the function of the rule cannot judge at present */
  failing?: string;
}

export interface Sample {
  point: string;
  time: Time;
  value: Value;
  kind: Kind;
  quality: Quality;
}

export interface SavedView {
  name: string;
  link: string;
  note: string;
  /** Who saved it */
  by: string;
  at: Time;
  version: number;
}

export interface SavedViews {
  views: SavedView[];
}

/** What points are set to, and when */
export interface Schedule {
  /** Small letters, digits, dots, hyphens and underscores */
  name: string;
  description?: string;
  /** Such as Europe/Berlin; UTC if left out */
  time_zone?: string;
  /** Paths of points that are set */
  points: string[];
  /** Of the commands, from 9 to 16, so that people at level 8 win; 15 if left out */
  level?: number;
  /** What a day begins with: a number, true, false or a text; nothing is commanded if left out or null */
  default?: unknown;
  week: ScheduleWeek;
  /** The first one that has a date decides the whole day */
  exceptions?: ScheduleException[];
  /** The first day on which it applies, such as 2026-10-01; no bound if left out */
  from?: string;
  /** The last day on which it applies; no bound if left out */
  to?: string;
}

export interface ScheduleChange {
  time: Time;
  /** null: nothing is commanded */
  value: Value;
  /** The day of the week, or the name of the exception */
  why: string;
}

export interface ScheduleChanges {
  /** What holds at the start */
  now: ScheduleChange;
  /** To other values, in the order of time */
  changes: ScheduleChange[];
}

export interface ScheduleEntry {
  /** A time of the day, such as 07:30 */
  at: string;
  /** A number, true, false or a text; null ends the command */
  value: unknown;
}

export interface ScheduleException {
  /** One date, such as 2026-12-24 */
  date?: string;
  /** The first of a row of dates, with last */
  first?: string;
  /** The last of a row of dates */
  last?: string;
  /** A day of each year, such as 12-25; 02-29 is only in leap years */
  yearly?: string;
  /** With weekday and week: a weekday of a month, such as the fourth Thursday in November */
  month?: number;
  /** Alone: each week */
  weekday?: "monday" | "tuesday" | "wednesday" | "thursday" | "friday" | "saturday" | "sunday";
  /** With weekday: 1 for the first one in the month to 5, -1 for the last */
  week?: number;
  /** Days after Easter Sunday of the Gregorian calendar: -2 for Good Friday, 1 for Easter Monday */
  easter?: number;
  /** The name of a calendar, in place of dates here */
  calendar?: string;
  /** Such as Holidays */
  name?: string;
  /** What is set on these days; without any the default holds all day */
  day?: ScheduleEntry[];
}

export interface ScheduleHolding {
  /** The next change */
  until: Time;
  results: Commanded[];
}

export interface ScheduleProblem {
  /** Empty for all */
  point: string;
  message: string;
}

export interface ScheduleWeek {
  monday?: ScheduleEntry[];
  tuesday?: ScheduleEntry[];
  wednesday?: ScheduleEntry[];
  thursday?: ScheduleEntry[];
  friday?: ScheduleEntry[];
  saturday?: ScheduleEntry[];
  sunday?: ScheduleEntry[];
}

export interface Schedules {
  schedules: KeptSchedule[];
}

export interface Search {
  took_ms: number;
  /** Devices; at most the first 2,000 are listed */
  total: number;
  devices: Neighbour[];
  /** Paths of configured devices of the network that was asked, and did not answer */
  gone: string[];
}

export interface SentAgain {
  /** Readings that a system took, or had */
  sent: number;
  /** Readings that a system refused */
  refused: number;
  /** The first 200 of them */
  refusals: MeterNotTaken[];
  /** When the oldest block was written that was read; earlier ones are not in the log any more */
  oldest?: Time;
  /** Up to where in the log all was sent */
  place: number;
  /** Ask again with after, as there is more behind that place */
  more: boolean;
  /** Why no system took the readings behind that place */
  reason?: string;
}

export interface Series {
  point: string;
  unit: string;
  kind: Kind;
  samples: Tuple[];
  expected: Expected;
  present: Count;
  extra: Extra;
  bad: Count;
  /** The limit cut the samples; the counts are of the whole range */
  truncated?: boolean;
}

export interface Session {
  user: string;
  role: Role;
  /** The time zone of the site, such as Europe/Berlin; absent if none is configured */
  time_zone?: string;
}

export interface Setup {
  needed: boolean;
  /** The node's name */
  node: string;
}

export interface SinkCount {
  readings: number;
  kept: number;
}

export interface SinkField {
  key: string;
  type: "text" | "number" | "list" | "map" | "file";
  /** From the reference of the configuration */
  doc: string;
}

export interface SinkForm {
  kind: string;
  title: string;
  /** An example of url; empty if the kind has none */
  address: string;
  /** What into names, such as Topic */
  into: string;
  /** In the order in which to ask */
  fields: SinkField[];
}

export interface SinkForms {
  /** Sorted by name */
  kinds: SinkForm[];
}

export interface SinkRefusal {
  point: string;
  time: Time;
  value: string;
  quality: string;
  refused: Time;
  reason: string;
}

export interface SinkRefusals {
  /** Oldest first */
  refusals: SinkRefusal[];
  kept: number;
}

/** Of the samples that were acknowledged since it was added: acknowledged = sent + left_out + refused + withheld + missing + waiting_samples */
export interface SinkState {
  name: string;
  kind: string;
  address: string;
  into: string;
  state: "ok" | "paused";
  /** Why nothing is sent at present */
  reason: string;
  since?: Time;
  waiting: Count;
  waiting_samples: Count;
  acknowledged: Count;
  balanced: boolean;
  newest?: Time;
  sent: Count;
  left_out: Count;
  refused: Count;
  kept: number;
  accepted: Count;
  discarded: Count;
  withheld: Count;
  withheld_kept: number;
  missing: Count;
  filled: Count;
  history_from?: Time;
  history_to?: Time;
  history_sent_to?: Time;
}

export interface SinkText {
  /** The keys of its entry. Secrets are not in it, only the names of their files */
  settings: unknown;
  /** Whether a position is kept for the name */
  remembered: boolean;
  /** Whether there is such a destination; otherwise it may have been removed */
  there: boolean;
}

export interface Source {
  node: string;
  /** stored: what it has of the time is stored here, it was not asked. asked: it answered. Otherwise what it did not send yet is missing: it is unreachable, refused that its points are read, was late, or failed */
  state: "stored" | "asked" | "unreachable" | "refused" | "late" | "failed";
  /** What may be missing here of its points begins here; absent for the beginning */
  from?: Time;
  /** What it was asked for ends here; absent for the newest */
  to?: Time;
  /** That it gave */
  samples: number;
  /** Not connected since */
  since?: Time;
  /** Samples that it had not sent when it last told */
  waiting?: Count;
  /** The capability that it misses, such as read site/** */
  missing?: string;
  /** What that means for the answer */
  why?: string;
}

export interface SourceCount {
  messages: number;
  kept: number;
}

/** Counts begin with the start of the node. Of the unread messages: sent on + kept + dropped, those of former starts among the kept, and those that were read again or discarded */
export interface SourceState {
  name: string;
  kind: string;
  state: "ok" | "paused";
  /** Why nothing is taken at present, or why dead letters are kept */
  reason: string;
  since?: Time;
  messages: Count;
  samples: Count;
  refused: Count;
  misdated: Count;
  unread: Count;
  dead_letters: Count;
  kept: number;
  dropped: Count;
  last?: Time;
}

export interface SubjectRate {
  subject: string;
  messages: Count;
  bytes: Count;
}

export interface Summary {
  point: string;
  unit: string;
  buckets: Bucket[];
  expected: Expected;
  present: Count;
  extra: Extra;
  bad: Count;
}

export interface Survey {
  /** In the order of the request */
  devices: Surveyed[];
}

export interface Surveyed {
  /** Empty if its points were found and can be added, else a fault kind */
  kind: string;
  /** Why not */
  detail: string;
  points: number;
  /** Points with a guess of what they are in the tag haystack_guess, which nobody has checked */
  guesses: number;
  /** The list of its points as CSV, to stand as registry in its configuration */
  registry: string;
  /** Of a configured device: names of points that its configuration lacks */
  added: string[];
  /** Of a configured device: points of its configuration that it has no more */
  gone: string[];
}

export interface Timeline {
  /** The newest first */
  events: TimelineEvent[];
  /** The to of the next page; empty if this is the last */
  next: string;
  /** Nodes that could not be asked */
  missing: TimelineMissing[];
}

export interface TimelineEvent {
  /** Of its entry in the audit log of its node */
  number: number;
  /** Empty for this node */
  node: string;
  time: Time;
  kind: "alarm" | "command" | "outage" | "restart" | "change" | "agent" | "access";
  level: "good" | "info" | "warn" | "bad";
  /** Such as person:ada; node for what the node did by itself */
  who: string;
  /** A point, a device, a node or a name */
  subject: string;
  /** The subject is a point */
  point: boolean;
  /** A sentence */
  text: string;
}

export interface TimelineMissing {
  node: string;
  message: string;
}

export interface ToReceive {
  meter: string;
  channel: number;
  day: string;
  /** Without a reading */
  intervals: number;
  /** The end of the first of them */
  first: Time;
  /** Seconds since then */
  age: number;
  /** Of the group of meters in metering/rules: 1 comes first, 9 last */
  priority: number;
}

export interface Token {
  name: string;
  purpose: "record" | "member";
  under: string;
  created: Time;
}

export interface Tokens {
  tokens: Token[];
}

export interface Traffic {
  messages: Count;
  bytes: Count;
}

export interface Trial {
  /** Empty if it answered, else a fault kind */
  kind: string;
  /** Why it did not answer */
  detail: string;
  took_ms: number;
  /** Points of the device; at most the first 500 are listed */
  total: number;
  points: TrialPoint[];
  /** What of the list of points was left out, and why */
  notes: string[];
}

export interface TrialOrder {
  /** A is the most significant byte */
  order: "ABCD" | "CDAB" | "BADC" | "DCBA";
  value: Value;
  /** The configuration says this order */
  used: boolean;
}

export interface TrialPoint {
  /** Within the device */
  name: string;
  kind: Kind;
  unit: string;
  description: string;
  writable: boolean;
  value: Value;
  quality: Quality;
  /** Where the device keeps it, such as holding 0–1; only if the driver says so, as modbus does */
  at?: string;
  /** The words of 16 bits that the device sent for it; only if the driver shows them */
  raw?: Count[];
  /** Its value in each order of the bytes; of numbers of several words */
  orders?: TrialOrder[];
  /** Only if the trial found the point - what the list of points must say to have it, by column */
  entry?: Record<string, string>;
}

export interface TriedPoint {
  point: string;
  description: string;
  unit: string;
  time: string | null;
  value: string;
  active: boolean;
  /** Why it is not known whether it would be in alarm; empty if it is */
  unjudged: string;
}

export interface TriedPoints {
  points: TriedPoint[];
  all: number;
  /** How many of those listed would be in alarm now */
  active: number;
}

export interface UnreadMessage {
  topic: string;
  /** Where it was at the broker */
  place: string;
  at: Time;
  reason: string;
  /** Its beginning; bytes that are no text as \x and two digits */
  payload: string;
  size: number;
}

export interface UnreadMessages {
  /** Oldest first */
  messages: UnreadMessage[];
  kept: number;
}

/** How the blocks of this node go up */
export interface Uplink {
  state: "connecting" | "connected" | "refused";
  since?: Time;
  /** Why there is no connection; empty if there is one */
  reason: string;
  /** Of the greeting, in milliseconds */
  rtt_ms: number;
  /** The parent's clock less this one, in milliseconds */
  offset_ms: number;
  /** Blocks of the log that the parent has not acknowledged */
  waiting: Count;
  lanes: UplinkLane[];
  origins: UplinkOrigin[];
  live?: LiveLink;
}

export interface UplinkLane {
  name: "normal" | "urgent";
  /** Under way */
  frames: number;
  /** Under way */
  octets: number;
  oldest?: Time;
  /** Bytes since the start */
  sent: Count;
  /** Times that it began anew, since the parent missed something */
  back: Count;
}

export interface UplinkOrigin {
  origin: string;
  /** Of the last block that the parent has */
  sequence: Count;
  /** In all blocks up to it */
  samples: Count;
  /** Samples since the start */
  sent: Count;
  /** Since the start */
  octets: Count;
  /** Samples since the start, with those left out */
  acknowledged: Count;
  /** Samples that the selection left out */
  left: Count;
  /** Samples that were sent once more */
  repeated: Count;
  /** Samples that the log had dropped, or that were damaged */
  dropped: Count;
  /** Why the parent does not take it; empty if it does */
  reason: string;
}

export interface Version {
  version: string;
  commit: string;
  go: string;
}

export interface WeeklyReport {
  name: string;
  title: string;
  points: string[];
  /** The saved view whose points it has; empty if it names them */
  view: string;
  contacts: string[];
  /** On which it is sent, such as monday */
  weekday: string;
  /** At which it is sent, such as 06:00 */
  time: string;
  /** When it is sent next */
  next: Time;
  /** Who wrote it */
  by: string;
  at: Time;
  version: number;
  last: LastSent;
}

export interface WeeklyReports {
  reports: WeeklyReport[];
  /** Of the times at which they are sent, which is that of the site */
  zone: string;
  /** Whether the node can send reports */
  sends: boolean;
}

export interface WhoHolds {
  /** At or below the path, that are commanded or go back; the point itself always */
  points: ControlPoint[];
  tasks: ControlTask[];
  overrides: ControlHolder[];
  /** There are more points */
  next: string;
}

export interface WithheldReading {
  point: string;
  time: Time;
  value: string;
  quality: string;
  withheld: Time;
  rule: string;
  reason: string;
}

export interface WithheldReadings {
  /** Oldest first */
  readings: WithheldReading[];
  kept: number;
}

export interface WorldMarket {
  /** Per kWh: how much the unit that traded last wants to run, from 0 to 1, less the friction if it bought, and with it if it sold */
  price: number;
  /** kW, in the last round */
  traded: number;
  /** Those that traded most first */
  sites: WorldSite[];
}

export interface WorldMoment {
  at: Time;
  signal: number;
  central: number;
  leader: number;
  gossip: number;
  market: number;
  /** Of the market, per kWh */
  price: number;
  /** kW, in a round of the market */
  traded: number;
}

export interface WorldSite {
  site: string;
  /** Its process runs */
  runs: boolean;
  /** kW that the signal leaves it */
  allotted: number;
  /** kW, when it bid */
  power: number;
  /** kW */
  bought: number;
  /** kW */
  sold: number;
  /** Price × kWh so far; negative: earned */
  paid: number;
}

export interface WorldState {
  /** Modelled buildings with a unit each */
  units: number;
  /** Over which the units are distributed */
  nodes: number;
  /** Virtual hours after which it ends */
  hours: number;
  /** Seconds between two decisions */
  period: number;
  /** Share of the messages that are lost */
  loss: number;
  /** Virtual seconds in a second; 0: pause */
  pace: number;
  seed: number;
  /** There is a world */
  there: boolean;
  /** Its hours have passed */
  over: boolean;
  begin: Time;
  time: Time;
  /** Positive: consume less */
  signal: number;
  ways: WorldWay[];
  /** What waits next, the first first */
  waits: WorldWait[];
  market: WorldMarket;
  /** The last hour, and before that what fits */
  course: WorldMoment[];
  /** The coolest that runs first */
  stack: WorldUnit[];
}

export interface WorldUnit {
  unit: string;
  /** °C */
  temperature: number;
  /** 0 where it switches itself off, 1 where it switches itself on */
  position: number;
  runs: boolean;
  /** Too soon after its last change */
  locked: boolean;
}

export interface WorldWait {
  at: Time;
  what: string;
}

export interface WorldWay {
  way: "central" | "leader" | "gossip" | "market";
  /** Who decides, or finds the price; empty while nobody does, and where all do */
  leader: string;
  term: Count;
  /** Processes that run */
  members: number;
  kills: number;
  messages: number;
  /** Orders of old leaders that units refused */
  refused: number;
  /** kW that the signal 1 asks for */
  capacity: number;
  /** kW */
  power: number;
  /** A share of the capacity, as the signal */
  response: number;
  /** PJM's score: the mean of the whole hours so far; null before the first */
  composite: number | null;
  /** 1 minus the mean error through the mean absolute signal so far; null while that is 0 */
  precision: number | null;
  /** K·h outside of the band, of the unit that has it worst */
  comfort: number;
  /** Of a unit so far, the mean */
  switches: number;
}
