import { bytes, dateTime, percentOf, plain, rate, span } from "../format";
import type { Process } from "../generated/api";
import { reasonOf } from "../language/said";
import { healthOf, type Row } from "./row";

/** A fact: its name, what it is, and whether it is bad. */
type Fact = readonly [name: string, text: string, bad?: boolean];

/** How the agent is, in figures. */
export function Facts({ row, now }: { row: Row; now: number }) {
  const { process, peer } = row;
  const health = healthOf(peer);
  const words = health.why ? `${health.words}: ${reasonOf(health.why)}` : health.words;
  const facts: Fact[] = [
    ["Health", words, health.level === "bad"],
    ...(process ? processFacts(process, now) : []),
    ...busFacts(row),
  ];
  return (
    <dl class="card agent-facts">
      {facts.map(([name, text, bad]) => (
        <div key={name}>
          <dt class="quiet">{name}</dt>
          <dd class={bad ? "problem" : ""}>{plain(text)}</dd>
        </div>
      ))}
    </dl>
  );
}

function processFacts(p: Process, now: number): Fact[] {
  const limit = p.memory_limit > 0 ? ` of at most ${bytes(p.memory_limit)}` : "";
  const runs = p.memory > 0;
  const since = span(Math.max(0, now - Date.parse(p.since)));
  const facts: Fact[] = [
    ["In this state for", p.text ? `${since}: ${p.text}` : since],
    ["Version", `${p.release ? `${p.release}, ` : ""}installed as ${p.version}`],
    ["Memory", runs ? `${bytes(p.memory)}${limit}` : "–"],
    ["CPU", runs ? `${percentOf(p.cpu)} of a processor` : "–"],
    ["Failures in a row", String(p.failures), p.failures > 0],
    ["With the node", autostartWords[p.autostart] ?? p.autostart],
    ["Kept apart by", p.isolation.join(", ") || "nothing"],
  ];
  if (p.last_end) {
    const words = `${p.last_end.text}, ${dateTime(Date.parse(p.last_end.at))}`;
    facts.push(["Last end", words, p.last_end.reason !== "stopped"]);
  }
  return facts;
}

function busFacts({ process, identity, peer, flow }: Row): Fact[] {
  const facts: Fact[] = [];
  if (flow) facts.push(["Messages", `${rate(flow.in)}/s in, ${rate(flow.out)}/s out`]);
  if (identity?.online) facts.push(["Connected from", identity.online.address]);
  if (peer?.sdk) facts.push(["SDK", [peer.sdk, peer.host].filter(Boolean).join(" on ")]);
  if (!process && peer?.version) facts.push(["Version", peer.version]);
  return facts;
}

const autostartWords: Record<string, string> = {
  "": "starts if it ran before",
  enabled: "starts in any case",
  disabled: "does not start",
};
