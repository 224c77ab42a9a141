// What the stand-in node tells about its bus.

import type { ServerResponse } from "node:http";
import type { Connection, Message } from "../src/bus/calls";
import type { Site } from "./sites";
import type { Handlers } from "./stand";

const connection = (name: string, more: Partial<Connection>): Connection => ({
  name,
  kind: "client",
  address: "127.0.0.1:40122",
  subscriptions: 1,
  in_messages: 0,
  in_bytes: 0,
  out_messages: 120_400,
  out_bytes: 48_200_000,
  pending_bytes: 0,
  slow: false,
  rtt_ms: 0.4,
  since: "2026-11-20T08:00:00Z",
  ...more,
});

const send = (response: ServerResponse, event: string, data: unknown) =>
  response.write(`event: ${event}\ndata: ${JSON.stringify(data)}\n\n`);

const subjectOf = (path: string) => `vb.live.${path.replaceAll(".", "%2E").replaceAll("/", ".")}`;

/** A bus with a quick and a slow reader, on which each device of a site speaks twice a second. */
export const bus = (site: Site): Handlers => ({
  "GET bus": () => ({
    connections: [
      connection("dashboard", { subscriptions: 12 }),
      connection(site[0]?.driver === "modbus" ? "archive" : (site[0]?.driver ?? ""), {
        slow: true,
        pending_bytes: 8_400_000,
        rtt_ms: 212,
        address: "10.0.4.17:51234",
      }),
      connection("recorder", { kind: "node", in_messages: 90_200, in_bytes: 12_300_000 }),
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
      send(response, "rates", rates);
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
