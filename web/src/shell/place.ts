// Where the page is, as its address says: the path chooses the screen, the query what it shows.

import { useEffect, useState } from "preact/hooks";

/** Path and query of the address. */
export interface Place {
  path: string;
  /** With its "?", or empty. */
  search: string;
}

const moved = "voltbus:moved";

/** The event before another screen is shown; preventing it keeps the page where it is. */
export const leaving = "voltbus:leaving";

const mayLeave = () => dispatchEvent(new Event(leaving, { cancelable: true }));

const here = (): Place => ({ path: location.pathname, search: location.search });

/** Goes to an address of this page; "replace" leaves no way back to the present one. */
export function go(address: string, how: "push" | "replace" = "push"): void {
  const leaves = new URL(address, location.href).pathname !== location.pathname;
  if (leaves && !mayLeave()) return;
  const position = positionOf(history.state);
  if (how === "push") history.pushState({ position: position + 1 }, "", address);
  else history.replaceState({ position }, "", address);
  dispatchEvent(new Event(moved));
}

/** How many steps behind the first an entry of the history is, as its state says. */
export function positionOf(state: unknown): number {
  const told = (state as { position?: unknown } | null)?.position;
  return typeof told === "number" ? told : 0;
}

/** The address as it is now; draws the caller again when it changes. */
export function usePlace(): Place {
  const [place, setPlace] = useState(here);
  useEffect(() => {
    let shown = { ...here(), position: positionOf(history.state) };
    const follow = () => {
      shown = { ...here(), position: positionOf(history.state) };
      setPlace((old) => {
        const now = here();
        return old.path === now.path && old.search === now.search ? old : now;
      });
    };
    // The buttons back and forward have left already: whoever would rather stay is brought back
    const goBack = () => {
      const position = positionOf(history.state);
      if (position === shown.position || here().path === shown.path || mayLeave()) follow();
      else history.go(shown.position - position);
    };
    addEventListener("popstate", goBack);
    addEventListener(moved, follow);
    follow();
    return () => {
      removeEventListener("popstate", goBack);
      removeEventListener(moved, follow);
    };
  }, []);
  return place;
}

/**
 * The address of this page that a click asks for, if the page should go there by itself: a plain
 * click on a link to a screen, not one to the API, to a file or into another tab.
 */
export function wanted(event: MouseEvent): string | undefined {
  if (event.defaultPrevented || event.button !== 0) return undefined;
  if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return undefined;
  const link = event.target instanceof Element ? event.target.closest("a[href]") : null;
  if (!(link instanceof HTMLAnchorElement) || link.hasAttribute("download")) return undefined;
  if (link.target !== "" && link.target !== "_self") return undefined;
  if (link.origin !== location.origin || link.hash !== "") return undefined;
  if (/^\/(api|assets|metrics|prometheus)(\/|$)/.test(link.pathname)) return undefined;
  return link.pathname + link.search;
}

/** Where an address of the page before it had screens is now, or undefined if it is no such. */
export function oldAddress({ path, search }: Place): string | undefined {
  if (path !== "/") return undefined;
  const params = new URLSearchParams(search);
  for (const several of params.getAll("points")) {
    for (const point of several.split(",")) if (point !== "") params.append("point", point);
  }
  params.delete("points");
  if (!params.has("branch") && !params.has("point")) return undefined;
  return `/site?${params}`;
}

/** The address of the page of a path. Segments that an address cannot carry go into its query. */
function addressOf(screen: string, path: string): string {
  const segments = path.split("/");
  if (segments.some((s) => s === "" || s === "." || s === "..")) {
    return `/${screen}?${new URLSearchParams({ path })}`;
  }
  return `/${screen}/${segments.map(encodeURIComponent).join("/")}`;
}

/** The inverse of addressOf; "" if the address names no path. */
function pathAt({ path, search }: Place): string {
  const [, rest = ""] = /^\/[^/]*\/(.*)$/.exec(path) ?? [];
  if (rest === "") return new URLSearchParams(search).get("path") ?? "";
  try {
    return rest.split("/").map(decodeURIComponent).join("/");
  } catch {
    return ""; // somebody cut the address in the middle of a character
  }
}

/** The address of a device's page. */
export const deviceAddress = (path: string) => addressOf("device", path);

/** The inverse of deviceAddress; "" if the address names no device. */
export const deviceAt = (place: Place) => pathAt(place);

/** The address of a point's page. */
export const pointAddress = (path: string) => addressOf("point", path);

/** The inverse of pointAddress; "" if the address names no point. */
export const pointAt = (place: Place) => pathAt(place);

/** The address of an agent's page. */
export const agentAddress = (name: string) => namedAddress("agents", name);

/** The inverse of agentAddress; "" if the address names no agent. */
export const agentAt = (place: Place) => nameAt(place);

/** The address of a node's page. */
export const nodeAddress = (name: string) => namedAddress("node", name);

/** The inverse of nodeAddress; "" if the address names no node. */
export const nodeAt = (place: Place) => nameAt(place);

/** The address of the page of a destination of readings. */
export const destinationAddress = (name: string) => namedAddress("destinations", name);

/** The inverse of destinationAddress; "" if the address names none. */
export const destinationAt = (place: Place) => nameAt(place);

const namedAddress = (screen: string, name: string) =>
  name === "." || name === ".." ? `/${screen}` : `/${screen}/${encodeURIComponent(name)}`;

function nameAt({ path }: Place): string {
  try {
    return decodeURIComponent(path.split("/")[2] ?? "");
  } catch {
    return ""; // somebody cut the address in the middle of a character
  }
}

/** The address of a configuration document. */
export const documentAddress = (owner: string, name: string) =>
  `/documents?${new URLSearchParams({ owner, name })}`;

/** The address of a branch on the site screen. */
export const branchAddress = (branch: string) => `/site?${new URLSearchParams({ branch })}`;

/** The address of the explorer with points over a range of time, in milliseconds. */
export function exploreAddress(points: readonly string[], from: number, to: number): string {
  const params = new URLSearchParams();
  for (const point of points) params.append("point", point);
  params.set("from", new Date(from).toISOString());
  params.set("to", new Date(to).toISOString());
  return `/explore?${params}`;
}

/** The address of a meter, with the channel and the day that are shown of it. */
export function meterAddress(id: string, channel?: number, day?: string): string {
  const params = new URLSearchParams();
  if (id === "." || id === "..") params.set("meter", id);
  if (channel !== undefined) params.set("channel", String(channel));
  if (day !== undefined) params.set("day", day);
  const query = params.size > 0 ? `?${params}` : "";
  return params.has("meter") ? `/metering${query}` : `/metering/${encodeURIComponent(id)}${query}`;
}

/** The inverse of meterAddress; "" if the address names no meter. */
export const meterAt = (place: Place) =>
  nameAt(place) || (new URLSearchParams(place.search).get("meter") ?? "");
