// What the stand-in answers about its replicas.

import type { Cluster, Replica } from "../src/generated/api";
import { type Handlers, Refusal } from "./stand";

const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();

function replica(name: string, clients: number): Replica {
  return {
    name,
    address: `10.0.0.${name.slice(-1)}:6222`,
    reached: true,
    since: ago(90_000),
    state: "member",
    version: "0.5.0",
    started: ago(90_100),
    clients,
    disk: 182_000_000_000,
    disk_size: 480_000_000_000,
    store: "files",
    log: { leader: name, first: 1, last: 88_210, bytes: 1_900_000_000, acknowledged: 41_204_118 },
    copies: [],
  };
}

/** Four replicas, of which one is not reached. */
export class Replicas {
  readonly removed: string[] = [];
  /** What was asked to be added. */
  readonly added: unknown[] = [];
  /** What a replica was told about draining. */
  readonly drains: unknown[] = [];
  /** Ends when a replica that is removed has left. */
  left: Promise<void> = Promise.resolve();
  /** Why a replica is not removed, "" if it is. */
  refuses = "";
  list: Replica[];

  constructor(odd = "broker-4") {
    const first = replica("broker-1", 3_412);
    first.copies = [
      { replica: "broker-2", behind: 0, blocks: 2, samples: 812, seconds: 0.7, missing: 0 },
      { replica: odd, behind: 31, blocks: 40, samples: 19_204, seconds: 41.2, missing: 0 },
    ];
    const away = {
      ...replica("broker-4", 0),
      name: odd,
      reached: false,
      since: ago(42),
      note: "its store does not answer: the disk is full",
    };
    this.list = [first, replica("broker-2", 3_398), replica("broker-3", 3_190), away];
  }

  readonly handlers: Handlers = {
    "GET cluster": (): Cluster => ({
      replicated: true,
      self: "broker-1",
      reached: 3,
      majority: 3,
      state: "degraded",
      sentence: "3 of 4 replicas; broker-4 is not reached: everything is acknowledged by three.",
      ledger: "What broker-4 acknowledged since then is not known here.",
      lossless: false,
      confirmed: 0,
      replicas: this.list,
    }),
    "POST cluster/replicas/broker-2/drain": ({ body }) => {
      this.drains.push(body);
      this.list = this.list.map((r) =>
        r.name === "broker-2" ? { ...r, state: r.state === "member" ? "drained" : "member" } : r,
      );
      return null;
    },
    "POST cluster/replicas": ({ body }) => {
      this.added.push(body);
      if (this.refuses) return new Refusal(409, this.refuses);
      this.list = [...this.list, { ...replica("broker-5", 0), state: "joining", reached: false }];
      return null;
    },
    "DELETE cluster/replicas/broker-4": ({ response }) => {
      if (this.refuses) return new Refusal(409, this.refuses);
      this.removed.push("broker-4");
      this.list = this.list.map((r) => (r.name === "broker-4" ? { ...r, state: "leaving" } : r));
      void this.left.then(() => {
        this.list = this.list.slice(0, 3);
        response.writeHead(204).end();
      });
      return "streamed";
    },
  };
}
