// What the screens ask about nodes that are joined with this one.

import type { Api } from "../api";
import type {
  Child,
  Children,
  Door,
  Grants,
  Invitation,
  Invitations,
  Invited,
  Parent,
} from "../generated/api";

/** Who may come in, and who was invited. */
export interface Joining {
  children: readonly Child[];
  invitations: readonly Invitation[];
  door: Door;
}

/** The nodes directly below this one. */
export const children = async (api: Api) => (await api.get<Children>("children")).children;

/** All about letting nodes in. */
export async function joining(api: Api): Promise<Joining> {
  const [below, invited, door] = await Promise.all([
    children(api),
    api.get<Invitations>("invitations"),
    api.get<Door>("door"),
  ]);
  return { children: below, invitations: invited.invitations, door };
}

const child = (name: string) => `children/${encodeURIComponent(name)}`;

/** What is done with a node that wants to come in, or that is in. */
export type Verdict = "approve" | "deny" | "revoke";

/** Decides about a node. */
export const decide = (api: Api, name: string, verdict: Verdict) =>
  api.send("POST", `${child(name)}/${verdict}`);

/** Forgets a node. */
export const forget = (api: Api, name: string) => api.send("DELETE", child(name));

/** Changes what a node may do. */
export const regrant = (api: Api, name: string, body: { grant?: Grants; withdraw?: Grants }) =>
  api.send("PATCH", `${child(name)}/grants`, body);

/** Moves the place below which a node's points are; "" for anywhere. */
export const confine = (api: Api, name: string, prefix: string) =>
  api.send("PUT", `${child(name)}/prefix`, { prefix });

/** An invitation as it is asked for. */
export interface NewInvitation {
  name?: string;
  prefix?: string;
  grants?: Grants;
  approved?: boolean;
  expires?: string;
  addresses?: string[];
}

/** Makes an invitation. */
export const invite = (api: Api, wanted: NewInvitation) =>
  api.send<Invited>("POST", "invitations", wanted);

/** Ends an invitation that nobody used. */
export const cancel = (api: Api, id: string) =>
  api.send("DELETE", `invitations/${encodeURIComponent(id)}`);

/** The parent. */
export const parent = (api: Api) => api.get<Parent>("parent");

/** Joins a parent. */
export const join = (api: Api, code: string, name: string) =>
  api.send<Parent>("POST", "parent", { code, ...(name ? { name } : {}) });

/** Leaves the parent. */
export const leave = (api: Api) => api.send("DELETE", "parent");

/** Takes a new key in place of the one that the parent knows. */
export const rotate = (api: Api) => api.send<Parent>("POST", "parent/rotate");
