// What the stand-in node tells about its bus.

import type { ServerResponse } from "node:http";
import type { Connection, Message } from "../src/bus/calls";
import type { Site } from "./sites";
import type { Handlers } from "./stand";

let ids = 0;

const connection = (name: string, more: Partial<Connection>): Connection => ({
  id: ++ids,
  name,
  key: "UAJ4XK2P",
  address: "127.0.0.1:40122",
  role: "reader",
  subscribed: 1,
  in: { messages: 0, bytes: 0 },
  out: { messages: 120_400, bytes: 48_200_000 },
  pending: 0,
  slow: false,
  rtt_ms: 0.4,
  since: "2026-11-20T08:00:00Z",
  ...more,
});

const send = (response: ServerResponse, event: string, data: unknown) =>
  response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

const subjectOf = (path: string) => `live.${path.replaceAll(".", "%2E").replaceAll("/", ".")}`;

/** A bus with a quick and a slow reader, on which each device of a site speaks twice a second. */
export const bus = (site: Site): Handlers => ({
  "GET bus": () => ({
    total: 3,
    slow_consumers: 1,
    connections: [
      connection("dashboard", { subscribed: 12 }),
      connection(site[0]?.driver === "modbus" ? "archive" : (site[0]?.driver ?? ""), {
        slow: true,
        pending: 8_400_000,
        rtt_ms: 212,
        address: "10.0.4.17:51234",
      }),
      connection("recorder", {
        role: "node",
        address: "",
        in: { messages: 90_200, bytes: 12_300_000 },
      }),
    ],
  }),
  "GET bus/stream": ({ query, response }) => {
    const wanted = (query.get("subject") ?? "").replace(/\.?>$/, "");
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const tell = () => {
      const rates = site.map((u, i) => ({
        subject: subjectOf(u.path),
        messages: 2 + i,
        bytes: 640 + 90 * i,
      }));
      send(response, "rates", { subjects: rates, seconds: 0.5, more: 0, hidden: 0, dropped: 0 });
      for (const u of site) {
        const subject = subjectOf(u.path);
        if (!subject.startsWith(wanted)) continue;
        const points = Object.fromEntries(u.points.map((p) => [p.name, p.at(Date.now())]));
        const text = JSON.stringify({ device: u.path, time: new Date().toISOString(), points });
        const message: Message = {
          time: new Date().toISOString(),
          subject,
          bytes: text.length,
          text,
          cut: false,
          binary: false,
        };
        send(response, "message", message);
      }
    };
    tell();
    const timer = setInterval(tell, 500);
    response.on("close", () => clearInterval(timer));
    return "streamed";
  },
});
