// The first script of the page, small and on its own: it logs in with the token of the address, and asks for what the first
// screen shows while the browser still brings the code that shows it. It imports nothing, so that it comes in one file.

import type { FirstAnswers } from "./first-answers";

const root = "/api/v1/";
const everyScreen = ["health", "devices", "ledger?local=true", "alarms?limit=500"];
const ofScreens: Record<string, readonly string[]> = {
  site: ["points?limit=5000"],
  explore: ["points?limit=5000"],
  alarms: ["alarms/people", "alarms/rules"],
  control: [
    "control/points?busy=true&limit=1000",
    "control/waiting",
    "control/overrides",
    "control/tasks",
  ],
  timeline: ["timeline?from=-12h&limit=200&nodes=true"],
  nodes: ["children"],
  settings: ["config"],
};

const answers: FirstAnswers["answers"] = new Map();
globalThis.voltbusFirst = { begun: performance.now(), answers };

type Asking = (address: string, init: RequestInit) => Promise<Response>;

/** Asks, and keeps the answer for whoever takes it; one that fails is told to that one only. */
function ask(method: string, resource: string, init: RequestInit = {}, by: Asking = fetch) {
  const answer = by(root + resource, { method, cache: "no-store", ...init });
  answer.catch(() => undefined);
  answers.set(`${method} ${root}${resource}`, answer);
  return answer;
}

/** Asks until there is an answer. */
const patiently: Asking = async (address, init) => {
  for (;;) {
    try {
      return await fetch(address, init);
    } catch {
      await new Promise((done) => setTimeout(done, 1000));
    }
  }
};

let loggedIn: Promise<unknown> = Promise.resolve();

/** How long after the network lost a file it is asked for again, in milliseconds. */
const again = 2000;

/** So long after all else has come, in milliseconds, the language of the page may still be on its way. */
const late = 20_000;

/** Brings again what was lost on its way: styles alone, code that all screens need with the whole page. */
function bring(file: EventTarget | null): void {
  if (file instanceof HTMLLinkElement && file.rel === "stylesheet")
    setTimeout(() => file.replaceWith(file.cloneNode()), again);
  if (file instanceof HTMLScriptElement) setTimeout(beginAnew, again);
}

/** Loads the page anew, once the login has ended that alone knows its token. */
const beginAnew = () => loggedIn.finally(() => location.reload());

/** Looks for what was lost before this script was there to hear of it. */
function lookOver(): void {
  const styles = new Set([...document.styleSheets].filter(hasRules).map((s) => s.ownerNode));
  for (const link of document.querySelectorAll("link")) if (!styles.has(link)) bring(link);
  setTimeout(() => document.getElementById("app")?.hasChildNodes() || beginAnew(), late);
}

/** Whether the styles have come; those that were lost are there, too, and may not be read. */
function hasRules(sheet: CSSStyleSheet): boolean {
  try {
    return sheet.cssRules.length > 0;
  } catch {
    return false;
  }
}

/** Logs in, and takes the token out of the address at once, so that nobody reads or shares it. */
function logIn(token: string): Promise<Response> {
  history.replaceState(null, "", location.pathname + location.search);
  const headers = { "Content-Type": "application/json", "X-Voltbus": "1" };
  // Nobody has the token from here on, so a network that fails for a moment must not lose it
  const login = ask("POST", "session", { headers, body: JSON.stringify({ token }) }, patiently);
  ask("GET", "session", { headers: { Authorization: `Bearer ${token}` } });
  loggedIn = login;
  return login;
}

async function begin(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  // A wrong token is not tried more often than it must: the node counts
  if (token && !(await logIn(token)).ok) return;
  // Who is not logged in is refused each of them, which costs less than to wait until the node has said who asks
  if (!token) ask("GET", "session");
  const own = ofScreens[location.pathname.split("/")[1] ?? ""] ?? [];
  for (const resource of [...everyScreen, ...own]) ask("GET", resource);
}

addEventListener("load", lookOver);
addEventListener("error", ({ target }) => bring(target), true); // of a file it does not bubble
begin().catch(() => undefined); // the page asks by itself, and tells why nothing comes
