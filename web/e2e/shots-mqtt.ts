import type { Page } from "playwright-core";
import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
import { Broker, strangers } from "./stand-mqtt";

const base = {
  site: building,
  address: "/mqtt",
  documented: false,
  get handlers() {
    return new Broker(strangers()).handlers;
  },
  ready: (page: Page) => page.getByText("48 messages").waitFor(),
} as const;

const outside = {
  ...base,
  get handlers() {
    return new Broker([], true).handlers;
  },
  ready: (page: Page) => page.getByText("1 client connected").waitFor(),
} as const;

/** The MQTT broker. */
export const mqtt: readonly Shot[] = [
  { ...base, name: "mqtt", size: wide, scheme: "light", documented: true },
  { ...base, name: "mqtt-dark", size: wide, scheme: "dark" },
  { ...base, name: "mqtt-phone", size: phone, scheme: "light" },
  { ...outside, name: "mqtt-applications", size: wide, scheme: "light" },
  { ...outside, name: "mqtt-applications-phone", size: phone, scheme: "light" },
  { ...base, name: "mqtt-phone-dark", size: phone, scheme: "dark" },
];
