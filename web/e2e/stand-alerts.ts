// What the stand-in answers about alerts.

import type { Alert } from "../src/generated/api";
import { type Handlers, Refusal } from "./stand";

/** The alerts of a stand-in. */
export class Alarms {
  /** Whether clearing is refused. */
  refuses = false;

  constructor(public list: Alert[]) {}

  readonly handlers: Handlers = {
    "GET alerts": () => ({ alerts: this.list }),
    "POST alerts/*": ({ resource }) => {
      if (this.refuses) return new Refusal(404, "It is not open any more", "not-found");
      const [, agent = "", key = "", verb] = resource.split("/").map(decodeURIComponent);
      if (verb === "acknowledge") {
        this.list = this.list.map((a) => (a.key === key ? { ...a, unacknowledged: false } : a));
        return undefined;
      }
      this.list = this.list.filter((a) => a.agent !== agent || a.key !== key);
      return undefined;
    },
  };
}

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

/** Three alerts of two agents. */
export const some = (): Alert[] => [
  {
    agent: "boiler-watch",
    key: "supply/high",
    severity: "critical",
    text: "Supply temperature 96.5 °C is above 95 °C",
    first: ago(754),
    last: ago(12),
    count: 13,
  },
  {
    agent: "economizer",
    key: "ahu1/damper",
    severity: "warning",
    text: "The outdoor air damper of campus/b1/ahu1 does not follow its command",
    first: ago(9300),
    last: ago(300),
    count: 31,
  },
  {
    agent: "boiler-watch",
    key: "service",
    severity: "info",
    text: "4,000 hours of operation: service is due",
    first: ago(86_400),
    last: ago(86_400),
    count: 1,
  },
];
