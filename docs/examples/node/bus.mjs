// What an agent needs to be on the bus of a Voltbus node, with nothing but a plain NATS client. The
// contract is docs/formats/bus.md; asyncapi.yaml beside it says the same to machines.
import { readFile } from "node:fs/promises";
import { hostname } from "node:os";
import {
  connect, NoRespondersError, nkeyAuthenticator, PermissionViolationError, RequestError, TimeoutError,
} from "@nats-io/transport-node";

/** What went wrong: kind is one of the kinds of bus.md, missing the capability of kind "refused". */
export class Failure extends Error {
  constructor({ kind, message, ...more }) {
    super(message);
    Object.assign(this, { name: "Failure", kind }, more);
  }
}

/** A name as one token of a subject, or a path's segment: what a token cannot hold is percent-encoded. */
export const token = (name) =>
  name === "" ? "%00" : name.replace(/[\x00-\x20\x7f.*>%/]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);

/** A path, such as campus/b 1/ahu, as tokens: campus.b%201.ahu. */
export const subjectOf = (path) => path.split("/").map(token).join(".");

/** An agent's connection to a node. */
export class Bus {
  #refused = new Map(); // subjects of publications that the server refused, and who waits to hear

  /** Connect with a name, an address, the file of the node's certificate, and the file of the key. */
  static async open({ name, address, ca, key, version = "" }) {
    const bus = new Bus();
    bus.name = name;
    bus.self = token(name);
    bus.conn = await connect({
      name,
      servers: address,
      tls: { ca: await readFile(ca, "utf8") },
      authenticator: nkeyAuthenticator(new TextEncoder().encode((await readFile(key, "utf8")).trim())),
      inboxPrefix: `_INBOX.${bus.self}`,
      maxReconnectAttempts: -1,
      ignoreAuthErrorAbort: true,
    });
    const hello = () => bus.node("hello", { sdk: "example-node", pid: process.pid, host: hostname(), version });
    bus.#watch(hello);
    const told = await hello();
    bus.nodeName = told.node;
    bus.standing = told.standing;
    return bus;
  }

  /** Say hello again on a new connection, and take the server's word about what may not be done. */
  async #watch(hello) {
    for await (const s of this.conn.status()) {
      if (s.type === "reconnect") {
        hello().then((told) => { this.standing = told.standing; }, (e) => console.error(`hello: ${e.message}`));
      } else if (s.type === "error" && s.error instanceof PermissionViolationError) {
        this.#refused.get(s.error.subject)?.(s.error);
      }
    }
  }

  /** Call a method of an agent; args is a list, or an object of arguments by name. */
  async call(agent, method, args = [], timeout = 10_000) {
    const subject = `rpc.${token(agent)}.${this.self}.${token(method)}`;
    const body = JSON.stringify(Array.isArray(args) ? { args } : { kwargs: args });
    let answer;
    try {
      answer = (await this.conn.request(subject, body, { timeout })).json();
    } catch (e) {
      const cause = e instanceof RequestError && e.cause ? e.cause : e;
      if (cause instanceof PermissionViolationError) {
        const missing = `call ${agent}:${method}`;
        throw new Failure({ kind: "refused", message: `missing: ${missing}`, missing });
      }
      if (cause instanceof NoRespondersError || e.isNoResponders?.()) {
        throw new Failure({ kind: "unreachable", message: `${agent} is not connected` });
      }
      if (cause instanceof TimeoutError) {
        throw new Failure({ kind: "timeout", message: `${agent} did not answer in time; whether it was carried out is unknown` });
      }
      throw e;
    }
    if (answer.error) throw new Failure(answer.error);
    return answer.result;
  }

  /** Ask the node itself. */
  node(method, args = {}) {
    return this.call("node", method, args);
  }

  /** Answer calls: methods are functions of a list, an object, and the name of who calls. */
  answer(methods) {
    const all = {
      ping: () => "pong",
      inspect: () => Object.keys(all).map((name) => ({ name, doc: "", params: [], result: "" })),
      ...methods,
    };
    this.conn.subscribe(`rpc.${this.self}.*.*`, {
      callback: async (err, m) => {
        // An answer is sent with this agent's rights, so it goes to an inbox of the caller and nowhere else.
        const [, , caller, method] = err ? [] : m.subject.split(".");
        if (err || !m.reply?.startsWith(`_INBOX.${caller}.`)) return;
        m.respond(JSON.stringify(await this.#serve(all, decodeURIComponent(caller), decodeURIComponent(method), m)));
      },
    });
  }

  async #serve(methods, from, name, m) {
    if (!Object.hasOwn(methods, name)) {
      return { error: { kind: "not-found", message: "there is no such method; inspect lists those that there are" } };
    }
    try {
      const { args = [], kwargs = {} } = m.data.length ? m.json() : {};
      return { result: (await methods[name](args, kwargs, from)) ?? null };
    } catch (e) {
      return { error: { kind: "remote", type: e.name, message: e.message } };
    }
  }

  /** Send a free message on a topic; fails with kind "refused" if that is not granted. */
  send(topic, body) {
    return this.#publish(`msg.${this.self}.${subjectOf(topic)}`, body, `publish ${topic}`);
  }

  /** Publish the values of a device's points as they are now. */
  publish(device, points) {
    const scan = { device, time: new Date().toISOString(), points };
    return this.#publish(`live.scan.${subjectOf(device)}`, scan, `publish ${device}`);
  }

  /** Publish, and wait for the server's word: a violation comes before the answer to the flush. */
  async #publish(subject, body, missing) {
    let refused = null;
    this.#refused.set(subject, (e) => { refused = e; });
    this.conn.publish(subject, JSON.stringify(body));
    await this.conn.flush();
    await new Promise((resume) => setImmediate(resume)); // the client tells of violations in a turn of its own
    this.#refused.delete(subject);
    if (refused) throw new Failure({ kind: "refused", message: `missing: ${missing}`, missing });
  }

  /** Call hear with live scans at and below a path, and with free messages on topics at and below it. */
  async subscribe(path, hear) {
    const tokens = subjectOf(path);
    for (const base of [`live.scan.${tokens}`, `msg.*.${tokens}`]) {
      for (const subject of [base, `${base}.>`]) {
        this.conn.subscribe(subject, { callback: (err, m) => (err ? console.error(err.message) : hear(m.subject, m.json())) });
      }
    }
    await this.conn.flush(); // now the server knows
  }

  close() {
    return this.conn.drain();
  }
}
