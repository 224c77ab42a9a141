// What the stand-in answers about people.

import type { OwnToken } from "../src/generated/api";
import { type Handlers, Refusal } from "./stand";

interface Person {
  name: string;
  role: string;
  created: string;
  password: boolean;
  tokens: number;
  local: boolean;
}

/** The people of a stand-in, and what was asked of it. */
export class People {
  readonly list: Person[];
  /** Passwords that were set, by name. */
  readonly passwords = new Map<string, string>();
  /** Tokens that can only record. */
  tokens: { name: string; purpose: "record"; under: string; created: string }[] = [];

  /** Tokens of who is logged in. */
  own: OwnToken[] = [];

  constructor(names: Record<string, string>) {
    const common = { created: "2026-03-01T08:00:00Z", password: true, tokens: 0 };
    this.list = [
      { ...common, name: "admin", role: "administrator", password: false, tokens: 1, local: true },
      ...Object.entries(names).map(([name, role]) => ({ ...common, name, role, local: false })),
    ];
  }

  readonly handlers: Handlers = {
    "GET people": () => ({ people: this.list }),
    "PUT people/*": ({ resource, body }) => {
      const name = nameIn(resource);
      const { role, password } = body as { role: string; password?: string };
      if (!/^[a-z0-9._@-]+$/i.test(name)) {
        return new Refusal(400, `"${name}" is no name: use letters, digits, and . _ @ -`);
      }
      if (password !== undefined) this.passwords.set(name, password);
      const old = this.list.find((p) => p.name === name);
      if (old) return Object.assign(old, { role });
      const created = new Date().toISOString();
      const added = { name, role, created, password: true, tokens: 0, local: false };
      this.list.push(added);
      return added;
    },
    "DELETE people/*": ({ resource }) => {
      const at = this.list.findIndex((p) => p.name === nameIn(resource));
      if (at < 0) return new Refusal(404, "There is no such person", "not-found");
      this.list.splice(at, 1);
      return undefined;
    },
    "GET tokens/own": () => ({ tokens: this.own }),
    "POST tokens/own": ({ body }) => {
      const { name, role, expires = null } = body as OwnToken;
      const made = { id: `id of ${name}`, name, role, created: new Date().toISOString(), expires };
      this.own.push(made);
      return { ...made, token: `vb_own_secret_of_${name}` };
    },
    "DELETE tokens/own/*": ({ resource }) => {
      const id = decodeURIComponent(resource.slice("tokens/own/".length));
      this.own = this.own.filter((t) => t.id !== id);
      return undefined;
    },
    "GET tokens": () => ({ tokens: this.tokens }),
    "POST tokens": ({ body }) => {
      const { name, under = "" } = body as { name: string; under?: string };
      if (this.tokens.some((t) => t.name === name)) {
        return new Refusal(409, `There is a token ${name} already`, "conflict");
      }
      this.tokens.push({ name, purpose: "record", under, created: new Date().toISOString() });
      return { name, under, token: `vb_secret_of_${name}` };
    },
    "DELETE tokens/*": ({ resource }) => {
      const name = decodeURIComponent(resource.slice("tokens/".length));
      this.tokens = this.tokens.filter((t) => t.name !== name);
      return undefined;
    },
    "PUT session/password": ({ body }) => {
      const { old, new: next } = body as { old: string; new: string };
      if (old !== "the old one")
        return new Refusal(403, "The old password is not right", "refused");
      this.passwords.set("admin", next);
      return undefined;
    },
  };
}

const nameIn = (resource: string) => decodeURIComponent(resource.slice("people/".length));
