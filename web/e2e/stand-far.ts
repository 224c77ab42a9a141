// What the stand-in answers about points of another node.

import type { Call, Handlers, Refusal } from "./stand";

/** Points of an air handler at another node, and those that listen to it. */
export class FarPoints {
  /** What is answered to who listens, instead of values. */
  refusal: Refusal | undefined;
  /** The nodes that were asked. */
  readonly asked: (string | null)[] = [];
  private readonly listening = new Set<Call>();

  constructor(private readonly number: number) {}

  /** How many listen. */
  get readers(): number {
    return this.listening.size;
  }

  readonly handlers: Handlers = {
    "GET points": ({ query }) => {
      this.asked.push(query.get("node"));
      const most = query.has("pattern") ? 3 : Math.min(this.number, Number(query.get("limit")));
      const points = Array.from({ length: most }, (_, i) => ({
        ...{ path: `ahu1/p${i}`, kind: "float", unit: "degC", description: "", device: "ahu1" },
        ...{ interval: 1, tags: null, writable: false },
      }));
      return { points, next: most < this.number && !query.has("pattern") ? `ahu1/p${most}` : "" };
    },
    "GET latest": () => ({ samples: [] }),
    "GET stream": (call) => {
      this.asked.push(call.query.get("node"));
      if (this.refusal) return this.refusal;
      call.response.writeHead(200, { "Content-Type": "text/event-stream" });
      call.response.write(": connected\n\n");
      this.listening.add(call);
      call.response.on("close", () => this.listening.delete(call));
      return "streamed";
    },
  };

  /** Sends a pass over the air handler to all that listen. */
  send(points: Record<string, number>, quality?: Record<string, string>): void {
    const scan = { device: "ahu1", time: new Date().toISOString(), points, quality };
    for (const { response } of this.listening)
      response.write(`event: scan\ndata: ${JSON.stringify(scan)}\n\n`);
  }
}
