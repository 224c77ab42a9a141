// The first script of the page, small and on its own: it logs in with the token of the address, and asks for what the first
// screen shows while the browser still brings the code that shows it. It imports nothing, so that it comes in one file.

import type { FirstAnswers } from "./first-answers";

const root = "/api/v1/";
const everyScreen = ["health", "devices", "ledger?local=true", "alarms?limit=500"];
const ofScreens: Record<string, readonly string[]> = {
  site: ["points?limit=5000"],
  explore: ["points?limit=5000"],
};

const answers: FirstAnswers["answers"] = new Map();
globalThis.voltbusFirst = { begun: performance.now(), answers };

/** Asks, and keeps the answer for whoever takes it; one that fails is told to that one only. */
function ask(method: string, resource: string, init: RequestInit = {}): Promise<Response> {
  const answer = fetch(root + resource, { method, cache: "no-store", ...init });
  answer.catch(() => undefined);
  answers.set(`${method} ${root}${resource}`, answer);
  return answer;
}

/** Logs in, and takes the token out of the address at once, so that nobody reads or shares it. */
function logIn(token: string): Promise<Response> {
  history.replaceState(null, "", location.pathname + location.search);
  return ask("POST", "session", {
    headers: { "Content-Type": "application/json", "X-Voltbus": "1" },
    body: JSON.stringify({ token }),
  });
}

async function begin(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token && !(await logIn(token)).ok) return;
  const session = ask("GET", "session");
  // With a token the node has just said who asks
  if (!token && !(await session).ok) return;
  const own = ofScreens[location.pathname.split("/")[1] ?? ""] ?? [];
  for (const resource of [...everyScreen, ...own]) void ask("GET", resource);
}

begin().catch(() => undefined); // the page asks by itself, and tells why nothing comes
