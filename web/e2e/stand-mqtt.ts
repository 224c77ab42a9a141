// What the stand-in answers about its MQTT broker.

import type { MQTTStatus, MQTTUnknown } from "../src/generated/api";
import { type Handlers, Refusal } from "./stand";

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

const proposed = (name: string, topic: string, device: string) =>
  `- name: "${name}"\n  topic: "${topic}"\n  device: "${device}"\n  format: json\n  rest: true\n`;

/** A broker with messages that no template takes. */
export class Broker {
  /** Why a template is refused, "" if it is not. */
  refuses = "";
  /** The templates that were added. */
  readonly added: string[] = [];

  constructor(public topics: MQTTUnknown[]) {}

  readonly handlers: Handlers = {
    "GET mqtt": (): MQTTStatus => ({
      ...{
        broker: true,
        devices: 12_480,
        connected: 9_973,
        sessions: 10_114,
        subscriptions: 9_973,
      },
      ...{ retained: 311, waiting: 0, connects: 20_418, refused: 7, received: 1_804_220 },
      ...{ delivered: 40_211, recorded: 1_799_100, samples: 5_400_318, unknown: 5_120 },
      ...{ undecoded: 3, unauthorized: 0, dropped: 0, overflow: 0, not_recorded: 0 },
      not_retained: 0,
    }),
    "GET mqtt/unknown": () => ({ topics: this.topics }),
    "POST mqtt/templates": ({ body }) => {
      if (this.refuses) return new Refusal(400, this.refuses);
      const { template } = body as { template: string };
      this.added.push(template);
      const topic = /topic: "([^"]*)"/.exec(template)?.[1] ?? "";
      this.topics = this.topics.filter((u) => topic !== u.topic.replace(u.device, "{device}"));
      return { version: "2", changes: { restart: [], words: ["mqtt.templates is changed"] } };
    },
  };
}

/** A device that is new, one whose payload is not that of its template, and one that sends no text. */
export const strangers = (): MQTTUnknown[] => [
  {
    topic: "air/lobby/state",
    device: "lobby",
    template: "",
    why: "",
    payload: '{"co2":612,"pm25":4.1,"temperature":21.4,"humidity":40,"ts":1772366400}',
    count: 48,
    at: ago(4),
    proposal: `${proposed("air state", "air/{device}/state", "mqtt/{device}")}  time: ts\n`,
  },
  {
    topic: "thermostats/hall/state",
    device: "hall",
    template: "thermostat",
    why: "temperature: is not a number",
    payload: '{"temperature":"warm"}',
    count: 3,
    at: ago(75),
    proposal: "",
  },
  {
    topic: "legacy/7",
    device: "",
    template: "",
    why: "",
    payload: "\uFFFD\u0001\uFFFD",
    count: 1,
    at: ago(3600),
    proposal: "",
  },
];
