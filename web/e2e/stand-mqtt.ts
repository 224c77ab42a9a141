// What the stand-in answers about its MQTT broker.

import type { AllApplications, MQTTStatus, MQTTUnknown } from "../src/generated/api";
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

  constructor(
    public topics: MQTTUnknown[],
    readonly outside = false,
  ) {}

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
    "GET mqtt/applications": (): AllApplications => ({
      applications: this.outside ? [forecast()] : [],
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

/** A program outside that asked for too much. */
const forecast = (): AllApplications["applications"][number] => ({
  ...{ name: "forecast", connected: 1, published: 4210, accepted: 12, refused: 3, failed: 0 },
  status: ["building/*/*/temp", "building/*/*/setpoint"],
  commands: ["zone-1", "zone-2"].map((node) => ({
    ...{ name: `${node}-setpoint`, node, point: "room1/setpoint", level: 14, min: 20, max: 24 },
    ...{ step: 1.5, every: 5, lease: 600, accepted: 6, refused: 1, failed: 0 },
    last: { time: ago(9), value: 20.5, status: "accepted" },
  })),
  events: [
    {
      ...{ time: ago(5), topic: "applications/forecast/set/zone-1-setpoint", value: 30 },
      ...{ status: "refused", why: "asks for 30, which is not from 20 to 24" },
    },
    {
      ...{ time: ago(7), topic: "#", status: "refused" },
      why: "subscribe: may not subscribe to all that this filter matches",
    },
    {
      time: ago(9),
      topic: "applications/forecast/set/zone-2-setpoint",
      value: 20.5,
      status: "accepted",
    },
  ],
});

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
