import type { Api } from "../api";

/** A text that stood in the configuration file. */
export interface Version {
  version: string;
  time: string;
  /** "" for a change by hand. */
  user: string;
}

/** The configuration file. */
export interface Config {
  file: string;
  text: string;
  version: string;
  /** Whether the node runs by this text; not after a change by hand. */
  applied: boolean;
  /** Sections that differ from what runs, and need a new start. */
  restart: string[] | null;
  /** The newest first. */
  history: Version[] | null;
}

/** One thing that is wrong in a text. */
export interface ConfigProblem {
  /** "" for the text itself, else a file that it names. */
  file: string;
  /** From 1; 0 if unknown. */
  line: number;
  column: number;
  path: string;
  detail: string;
}

/** What a text would change, or did. */
export interface Changes {
  added: string[] | null;
  removed: string[] | null;
  changed: string[] | null;
  /** Sections that only a new start of the node takes over. */
  restart: string[] | null;
  /** The same in sentences. */
  words: string[] | null;
}

/** The judgement of a text. */
export interface Check {
  problems: ConfigProblem[] | null;
  changes: Changes;
}

/** What a change did. */
export interface Applied {
  version: string;
  changes: Changes;
}

/** The configuration's part of the API. */
export const readConfig = (api: Api) => api.get<Config>("config");
export const checkConfig = (api: Api, text: string) =>
  api.send<Check>("POST", "config/check", { text });
export const applyConfig = (api: Api, text: string, version: string) =>
  api.send<Applied>("PUT", "config", { text, version });
export const readVersion = (api: Api, version: string) =>
  api.get<Version & { text: string }>(`config/versions/${encodeURIComponent(version)}`);

/** Pushes a text to another node, on trial for so many seconds; answers when the node keeps it. */
export const pushConfig = (far: Api, text: string, version: string, confirm: number) =>
  far.send<Applied>("PUT", "config", { text, version, confirm });
/** Lets a text stay that is on trial. */
export const confirmConfig = (far: Api, version: string) =>
  far.send("POST", "config/confirm", { version });
