// What the stand-in answers about the configuration: it keeps texts as a node does, and finds one
// kind of problem, a line that holds the word "nonsense".

import type { Changes, ConfigProblem } from "../src/settings/config";
import { type Handlers, Refusal } from "./stand";

interface Kept {
  version: string;
  time: string;
  user: string;
  text: string;
}

/** The configuration of a stand-in. */
export class Settings {
  private readonly kept: Kept[] = [];

  constructor(text: string, user = "") {
    this.write(text, user);
  }

  /** Replaces the text, as somebody else would. */
  write(text: string, user: string): void {
    const version = String(this.kept.length + 1).padStart(16, "0");
    const time = new Date(Date.now() - 3_600_000 + this.kept.length * 60_000).toISOString();
    this.kept.push({ version, time, user, text });
  }

  get text(): string {
    return this.newest.text;
  }

  private get newest(): Kept {
    const newest = this.kept.at(-1);
    if (!newest) throw new Error("there is always a text");
    return newest;
  }

  readonly handlers: Handlers = {
    "GET config": () => ({
      file: "/etc/voltbus/voltbus.yaml",
      text: this.text,
      version: this.newest.version,
      applied: true,
      restart: [],
      history: [...this.kept].reverse().map(({ text: _, ...version }) => version),
    }),
    "POST config/check": ({ body }) => {
      const { text } = body as { text: string };
      const problems = problemsOf(text);
      return { problems, changes: problems.length > 0 ? none : changes(this.text, text) };
    },
    "PUT config": ({ body }) => {
      const { text, version } = body as { text: string; version: string };
      if (version !== this.newest.version) return new Refusal(409, "The file changed", "conflict");
      const done = changes(this.text, text);
      this.write(text, "admin");
      return { version: this.newest.version, changes: done };
    },
    "GET config/versions/*": ({ resource }) =>
      this.kept.find((k) => resource.endsWith(`/${k.version}`)) ??
      new Refusal(404, "There is no such version", "not-found"),
  };
}

const none: Changes = { added: [], removed: [], changed: [], restart: [], words: [] };

const problemsOf = (text: string): ConfigProblem[] =>
  text.split("\n").flatMap((line, i) => {
    const column = line.indexOf("nonsense") + 1;
    if (column === 0) return [];
    const detail = `"nonsense" is no duration; write for example 10s`;
    return [{ file: "", line: i + 1, column, path: "devices[0].interval", detail }];
  });

const pathsOf = (text: string) => [...text.matchAll(/path: (.*)/g)].map((m) => m[1] ?? "");

function changes(before: string, after: string): Changes {
  const [old, now] = [pathsOf(before), pathsOf(after)];
  const added = now.filter((p) => !old.includes(p));
  const removed = old.filter((p) => !now.includes(p));
  const words = [...added.map((p) => `${p} is added.`), ...removed.map((p) => `${p} is removed.`)];
  return { ...none, added, removed, words };
}

/** A text with devices. */
export const plant = `# The plant of the campus
node: campus
devices:
  - path: campus/plant/boiler1
    driver: modbus
    interval: 1s
    config:
      address: 192.168.10.21:502
      unit: 1
      registry: boiler.csv
  # Read rarely: it is behind a radio
  - path: campus/plant/meter
    driver: modbus
    interval: 10s
    config:
      address: 192.168.10.22:502
      unit: 3
      registry: meter.csv
`;
