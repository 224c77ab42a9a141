// Pushes to this browser: whether it can, whether it does, and how that begins and ends.

import type { Api } from "../api";
import type { AlarmPeople, PushBrowser } from "../generated/api";

/** How this browser stands with pushes. */
export type Standing =
  | { is: "without"; why: string }
  | { is: "denied" }
  | { is: "off" }
  | { is: "on"; browser: PushBrowser };

const iPhone = () => /iPhone|iPad/.test(navigator.userAgent);

/** Why this browser cannot show pushes; "" if it can. */
export function lacks(): string {
  if (!isSecureContext) return "Browsers show pushes only of pages with https.";
  if (iPhone() && !matchMedia("(display-mode: standalone)").matches)
    return "On an iPhone or iPad, add this page to the home screen and open it there; then it can show pushes.";
  if (!("serviceWorker" in navigator && "PushManager" in window && "Notification" in window))
    return "This browser cannot show pushes. Be told by e-mail or in another way instead.";
  return "";
}

/** How this browser stands. */
export async function standing(people: AlarmPeople): Promise<Standing> {
  const why = lacks();
  if (why) return { is: "without", why };
  if (Notification.permission === "denied") return { is: "denied" };
  const registered = await navigator.serviceWorker.getRegistration();
  const subscription = await registered?.pushManager.getSubscription();
  if (!subscription) return { is: "off" };
  const id = await idOf(subscription.endpoint);
  const browser = people.browsers.find((b) => b.id === id);
  return browser ? { is: "on", browser } : { is: "off" };
}

/** The id that the node gives to a subscription. */
export async function idOf(endpoint: string): Promise<string> {
  const hash = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(endpoint));
  return encode(new Uint8Array(hash).slice(0, 12));
}

const encode = (bytes: Uint8Array): string =>
  btoa(String.fromCharCode(...bytes))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

const decode = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));

const keyOf = (s: PushSubscription, name: PushEncryptionKeyName): string => {
  const key = s.getKey(name);
  return key ? encode(new Uint8Array(key)) : "";
};

/** Asks for permission, subscribes with the key of the node, and has the node keep that. */
export async function begin(api: Api, people: AlarmPeople, name: string): Promise<void> {
  if ((await Notification.requestPermission()) !== "granted") return; // the page says so
  const registered = await navigator.serviceWorker.ready;
  const old = await registered.pushManager.getSubscription();
  await old?.unsubscribe(); // it may be for another key
  const s = await registered.pushManager.subscribe({
    userVisibleOnly: true,
    applicationServerKey: decode(people.push_key),
  });
  const p256dh = keyOf(s, "p256dh");
  await api.send("POST", "alarms/browsers", {
    name,
    endpoint: s.endpoint,
    p256dh,
    auth: keyOf(s, "auth"),
  });
}

/** Has the node forget a browser; this one unsubscribes, too. */
export async function end(api: Api, id: string): Promise<void> {
  await api.send("DELETE", `alarms/browsers/${encodeURIComponent(id)}`);
  if (lacks()) return;
  const registered = await navigator.serviceWorker.getRegistration();
  const s = await registered?.pushManager.getSubscription();
  if (s && (await idOf(s.endpoint)) === id) await s.unsubscribe();
}

const makers: readonly (readonly [RegExp, string])[] = [
  [/Edg\//, "Edge"],
  [/Firefox\//, "Firefox"],
  [/Chrome\//, "Chrome"],
  [/Safari\//, "Safari"],
];

const systems: readonly (readonly [RegExp, string])[] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS/, "Mac"],
  [/Linux/, "Linux"],
];

/** What to call a browser: "Chrome on Android". */
export function nameOf(agent: string): string {
  const find = (list: readonly (readonly [RegExp, string])[], other: string) =>
    list.find(([pattern]) => pattern.test(agent))?.[1] ?? other;
  return `${find(makers, "Browser")} on ${find(systems, "this device")}`;
}
