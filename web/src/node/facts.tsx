import { bytes, count, dateTime, percentOf, plain, plural, span } from "../format";
import type { Node, Received } from "../generated/api";
import { coded, word } from "../language/codes";
import { fixed } from "../language/number";
import { reasonOf } from "../language/said";
import { offsetOf, offsetWords, waitsFor } from "./fleet";
import { LiveCost } from "./live-cost";

interface Props {
  node: Node;
  now: number;
}

/** How a node says that it is, and what came from it. */
export function Facts({ node: n, now }: Props) {
  return (
    <>
      <section class="card panel" aria-labelledby="facts-title">
        <h2 id="facts-title">
          {n.heard
            ? `Reported ${span(Math.max(0, now - Date.parse(n.heard)))} ago`
            : "It has not reported yet"}
        </h2>
        <dl class="agent-facts node-facts">
          {factsOf(n, now).map(([name, value]) => (
            <div key={name}>
              <dt class="quiet">{name}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      </section>
      {n.received && <Came received={n.received} />}
      {n.live && <LiveCost link={n.live} />}
    </>
  );
}

const moment = (time: string | undefined) => (time ? dateTime(Date.parse(time)) : "–");

/** A part of a whole, with what is not well about it. */
const failing = (all: number, bad: number, word: string) =>
  bad > 0 ? `${count(all)}, of them ${count(bad)} ${word}` : count(all);

/** What a node that is away says of its link was so. */
function linkWords(n: Node): string {
  const link = n.state === "away" && n.link === "connected" ? "was connected" : n.link;
  const known = [link, n.link_note].filter((t) => t).map(plain);
  return known.join(": ") || "–";
}

function factsOf(n: Node, now: number): [string, string][] {
  const isHere = n.state === "here";
  const waits = waitsFor(n, now);
  const left = n.disk_size > 0 ? ` of ${bytes(n.disk_size)}` : "";
  return [
    ["Roles", n.roles.map(coded).map(plain).join(", ") || "–"],
    ["Version", plain(n.version) || "–"],
    ["Runs since (its clock)", moment(n.started)],
    ["Parent", plain(n.parent) || "–"],
    ["Its points lie here below", plain(n.prefix) || "any path"],
    ["Link to the parent", linkWords(n)],
    [n.state === "away" ? "Away since" : "Connected since", isHere ? "–" : moment(n.since)],
    ["Round trip", isHere || !n.heard ? "–" : `${fixed(n.rtt_ms, 1)} ms`],
    ["Its clock", isHere || !n.heard ? "–" : offsetWords(offsetOf(n))],
    [
      "Backlog",
      n.waiting > 0
        ? `${plural(n.waiting, "sample")}, ${bytes(n.waiting_octets)}`
        : word("nothing"),
    ],
    ["The oldest of it", waits > 0 ? span(waits) : "–"],
    ["Disk left", n.disk_size > 0 ? bytes(n.disk) + left : "–"],
    ["Memory", n.memory > 0 ? bytes(n.memory) : "–"],
    ["Processors in use", n.heard ? percentOf(n.cpu) : "–"],
    ["Board", n.celsius === undefined ? "not reported" : `${fixed(n.celsius, 0)} °C`],
    ["Devices", failing(n.devices, n.devices_failing, "failing")],
    ["Points", count(n.points)],
    ["Agents", failing(n.agents, n.agents_failing, "failing")],
    ["Open alerts", count(n.alerts)],
    ["Origins", n.origins.map(plain).join(", ") || "–"],
  ];
}

function Came({ received: r }: { received: Received }) {
  const facts: [string, string][] = [
    ["Samples", count(r.samples)],
    ["Blocks", count(r.blocks)],
    ["On the wire", bytes(r.octets)],
    ["A sample", r.samples > 0 ? `${fixed(r.octets / r.samples, 1)} bytes` : "–"],
    ["Received twice", count(r.repeated)],
    ["Left out on purpose", count(r.left)],
    ["Could not be sent any more", count(r.missing)],
  ];
  return (
    <section class="card panel" aria-labelledby="came-title">
      <h2 id="came-title">What came from it since this node started</h2>
      {r.reason && (
        <p class="problem">
          Its data is not taken: {reasonOf(r.reason)} It waits there, and goes on when the right is
          given here or its configuration is changed.
        </p>
      )}
      <dl class="agent-facts node-facts">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt class="quiet">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
