// What the stand-in answers about other nodes: those below it, the codes that are out, the one above.

import type { Child, Door, Invitation, Node, Nodes, Parent, Uplink } from "../src/generated/api";
import { aNode } from "../src/node/testing";
import { type Call, type Handler, type Handlers, Refusal } from "./stand";
import { inMinutes } from "./stand-control";

const fingerprint = "1f0c 9d2b 77ae 4c10 5b3e 0a6d";

/** A descendant, approved and connected unless said otherwise. */
export const childOf = (name: string, more: Partial<Child> = {}): Child => ({
  ...{ name, public: `U${name.toUpperCase()}`, fingerprint, state: "approved", prefix: "campus" },
  ...{ grants: {}, version: "0.9.0", invitation: "i0", joined: inMinutes(-3000), by: "person:ann" },
  ...{ changed: inMinutes(-2990), keys: 1, online: onlineSince(-1440), refusal: "", ...more },
});

const traffic = { messages: 120, bytes: 48_000 };

/** A connection since so many minutes from now. */
export const onlineSince = (minutes: number) => ({
  ...{ since: inMinutes(minutes), address: "10.0.4.17:51234", in: traffic, out: traffic },
});

/** A node that waits for approval. */
export const pendingOf = (name: string, more: Partial<Child> = {}) =>
  childOf(name, {
    state: "pending",
    by: "",
    joined: inMinutes(-3),
    online: onlineSince(-3),
    ...more,
  });

const noParent: Parent = {
  ...{ member: false, parent: "", addresses: [], fingerprint: "", name: "", prefix: "" },
  ...{ state: "", why: "", key_fingerprint: "" },
};

/** What goes up, all of it taken. */
export const uplinkOf = (more: Partial<Uplink> = {}): Uplink => ({
  ...{ state: "connected", since: inMinutes(-600), reason: "", rtt_ms: 12.4, offset_ms: -3 },
  ...{ waiting: 0, origins: [] },
  lanes: [
    { name: "normal", frames: 0, octets: 0, sent: 48_300_000, back: 1 },
    { name: "urgent", frames: 0, octets: 0, sent: 120_000, back: 0 },
  ],
  ...more,
});

/** A parent. */
export const parentOf = (more: Partial<Parent> = {}): Parent => ({
  ...{ member: true, parent: "region", addresses: ["region.example:4222"], name: "campus" },
  ...{ prefix: "region/campus", state: "approved", why: "", joined: inMinutes(-9000) },
  fingerprint: "3b1f52c09a7e44d18c6b0f95ad2e7731".repeat(2),
  key_fingerprint: fingerprint,
  uplink: uplinkOf(),
  ...more,
});

const codeOf = "vb1kq7nt4c2xw9p3m5d8h6r0s1v4b7z2y9j3f6g8k1q5t7n0c4x2w8p6";

/** A square of dark and light that is no code, but as large as one. */
const picture = Array.from({ length: 45 }, (_, y) =>
  Array.from({ length: 45 }, (_, x) => ((x * 7 + y * 13 + x * y) % 5 < 2 ? "1" : "0")).join(""),
);

const gigabyte = 1_000_000_000;

/** A node that tells all of itself. */
export const toldNode = (name: string, path: string[], more: Partial<Node> = {}): Node =>
  aNode(name, {
    ...{ path, parent: path.at(-2) ?? "campus", prefix: `campus/${name}`, since: inMinutes(-1440) },
    ...{ origins: [`${name}~9sd2kq`], heard: inMinutes(-0.1), started: inMinutes(-4000) },
    ...{ roles: ["collector", "store", "child"], link: "connected", rtt_ms: 8.2, offset_ms: 12 },
    ...{ disk: 41 * gigabyte, disk_size: 64 * gigabyte, memory: 88_000_000, cpu: 0.07 },
    ...{ celsius: 47, devices: 12, points: 216, agents: 2, ...more },
  });

/** A campus with plants: one away, one with silent devices, one whose clock is wrong. */
export const campusNodes = (): Node[] => [
  toldNode("campus", [], { state: "here", parent: "", roles: ["concentrator", "store"] }),
  toldNode("plant-1", ["plant-1"], {
    ...{ devices_failing: 2, roles: ["collector", "concentrator", "child"], waiting: 40 },
    received: {
      ...{ blocks: 4100, samples: 8_204_100, octets: 24_600_000, repeated: 120, missing: 0 },
      ...{ left: 0, dropped: 0, reason: "" },
    },
  }),
  toldNode("cellar", ["plant-1", "cellar"], { rtt_ms: 31.5, devices: 4, agents: 0 }),
  toldNode("plant-2", ["plant-2"], {
    ...{ state: "away", since: inMinutes(-95), waiting: 1_026_000, waiting_octets: 3_900_000 },
    ...{ waiting_since: inMinutes(-95), link: "connecting", link_note: "no route to host" },
  }),
  toldNode("plant-4", ["plant-4"], { offset_ms: -7_200_000, version: "0.8.2", agents_failing: 1 }),
  toldNode("plant-5", ["plant-5"], { disk: 3 * gigabyte }),
];

const often = 100;

/** Tells the nodes as they are, and then those that changed, as a node does. */
export const nodeEvents =
  (now: () => Nodes): Handler =>
  ({ response }) => {
    response.writeHead(200, { "Content-Type": "text/event-stream" });
    const told = new Map<string, string>();
    const tell = () => {
      const { nodes, above, refused } = now();
      const changed = nodes.filter((n) => told.get(n.name) !== JSON.stringify(n));
      const gone = [...told.keys()].filter((name) => nodes.every((n) => n.name !== name));
      const whole = told.size === 0;
      if (changed.length + gone.length === 0) return;
      for (const n of changed) told.set(n.name, JSON.stringify(n));
      for (const name of gone) told.delete(name);
      const change = { whole, nodes: changed, gone, above, refused };
      response.write(`event: nodes\ndata: ${JSON.stringify(change)}\n\n`);
    };
    tell();
    const timer = setInterval(tell, often);
    response.on("close", () => clearInterval(timer));
    return "streamed";
  };

/** The other nodes of a stand-in. */
export class Joined {
  children: Child[] = [];
  nodes: Node[] = [toldNode("campus", [], { state: "here", parent: "" })];
  above: string[] = [];
  invitations: Invitation[] = [];
  parent: Parent = noParent;
  door: Door = {
    ...{ node: "campus", addresses: ["10.0.4.2:4222"], fingerprint: "c0".repeat(32) },
    authority: "",
  };
  /** What was asked to be changed, the latest last. */
  readonly asked: { method: string; resource: string; body: unknown }[] = [];

  readonly handlers: Handlers = {
    "GET nodes": () => this.known(),
    "GET events/nodes": nodeEvents(() => this.known()),
    "GET children": () => ({ children: this.children }),
    "POST children/*": (call) => this.decide(call),
    "PATCH children/*": (call) => this.note(call),
    "PUT children/*": (call) => {
      const child = this.find(call);
      if (child) child.prefix = (call.body as { prefix: string }).prefix;
      return this.note(call);
    },
    "DELETE children/*": (call) => {
      const child = this.find(call);
      this.children = this.children.filter((c) => c !== child);
      this.note(call);
    },
    "GET invitations": () => ({ invitations: this.invitations }),
    "POST invitations": (call) => this.invite(call),
    "DELETE invitations/*": (call) => {
      const id = call.resource.split("/")[1];
      const found = this.invitations.find((i) => i.id === id);
      if (found) found.state = "cancelled";
      return this.note(call);
    },
    "GET door": () => this.door,
    "GET parent": () => this.parent,
    "POST parent": (call) => {
      this.note(call);
      const { code } = call.body as { code: string };
      if (!code.startsWith("vb1")) {
        return new Refusal(400, "the code was not copied right: copy it once more, whole");
      }
      const { uplink: _, ...rest } = parentOf({ state: "pending", prefix: "" });
      this.parent = rest;
      return this.parent;
    },
    "DELETE parent": (call) => {
      this.parent = noParent;
      this.note(call);
    },
    "POST parent/rotate": (call) => this.note(call),
  };

  private known(): Nodes {
    return { nodes: this.nodes, above: this.above, refused: [] };
  }

  private note({ method, resource, body }: Call): unknown {
    this.asked.push({ method, resource, body });
    return { done: true };
  }

  private find({ resource }: Call): Child | undefined {
    return this.children.find((c) => c.name === decodeURIComponent(resource.split("/")[1] ?? ""));
  }

  private decide(call: Call): unknown {
    const child = this.find(call);
    const verdict = call.resource.split("/")[2];
    if (!child) return new Refusal(404, "there is no such node", "not-found");
    child.state = verdict === "approve" ? "approved" : "revoked";
    if (verdict !== "approve") delete child.online;
    return this.note(call);
  }

  private invite(call: Call): unknown {
    const wanted = call.body as Partial<Invitation>;
    const invitation: Invitation = {
      ...{ id: `i${this.invitations.length + 1}`, state: "open", approved: false, name: "" },
      ...{ prefix: "", grants: {}, created: inMinutes(0), expires: inMinutes(1440) },
      ...{ by: "person:admin", used_by: "", ...wanted },
    };
    this.invitations.unshift(invitation);
    this.note(call);
    return { invitation, code: codeOf, qr: picture, addresses: this.door.addresses };
  }
}
