import { bytes, count, dateTime, plain, plural, rate } from "../format";
import type { Bus, Connection } from "./calls";

const mostShown = 200;

/** Who is connected: those that read too slowly first, then those for whom most waits. */
export function Connections({ bus, problem }: { bus: Bus | undefined; problem: string }) {
  const all = [...(bus?.connections ?? [])].sort(
    (a, b) =>
      Number(b.slow) - Number(a.slow) ||
      b.pending - a.pending ||
      b.in.messages + b.out.messages - a.in.messages - a.out.messages,
  );
  const slow = all.filter((c) => c.slow).length;
  return (
    <section class="card panel" aria-labelledby="connections-title">
      <div class="panel-head">
        <h2 id="connections-title">Connections</h2>
        <span class={slow > 0 ? "problem" : "quiet"} role="status" aria-label="Slow readers">
          {slow > 0
            ? `${plural(slow, "connection")} of ${count(all.length)} ${slow === 1 ? "reads" : "read"} slower than messages come.`
            : `${plural(all.length, "connection")}; everybody keeps up.`}
        </span>
      </div>
      {problem && <p class="problem">{plain(problem)}</p>}
      {bus && bus.slow_consumers > 0 && (
        <p class="problem">
          {plural(bus.slow_consumers, "reader")} {bus.slow_consumers === 1 ? "was" : "were"} cut off
          since the start for being too slow.
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label="List of connections">
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">Address</th>
              <th scope="col" class="number">
                Subscriptions
              </th>
              <th scope="col" class="number">
                It sent
              </th>
              <th scope="col" class="number">
                It was sent
              </th>
              <th scope="col" class="number">
                Waiting
              </th>
              <th scope="col" class="number">
                Answers in
              </th>
              <th scope="col">Since</th>
            </tr>
          </thead>
          <tbody>
            {all.slice(0, mostShown).map((c) => (
              <Line key={c.id} connection={c} />
            ))}
          </tbody>
        </table>
      </section>
      {bus && bus.total > Math.min(all.length, mostShown) && (
        <p class="quiet">… and {count(bus.total - Math.min(all.length, mostShown))} more.</p>
      )}
    </section>
  );
}

function Line({ connection: c }: { connection: Connection }) {
  return (
    <tr>
      <th scope="row">
        {plain(c.name) || "(no name)"} {c.slow && <span class="pill is-bad">slow</span>}
        <span class="quiet bus-kind">{plain([c.role, c.key].filter(Boolean).join(" "))}</span>
      </th>
      <td>{plain(c.address) || "in the node"}</td>
      <td class="number">{count(c.subscribed)}</td>
      <td class="number">
        {count(c.in.messages)} <span class="quiet">{bytes(c.in.bytes)}</span>
      </td>
      <td class="number">
        {count(c.out.messages)} <span class="quiet">{bytes(c.out.bytes)}</span>
      </td>
      <td class={`number${c.slow ? " is-bad" : ""}`}>{bytes(c.pending)}</td>
      <td class="number">{c.rtt_ms > 0 ? `${rate(c.rtt_ms)} ms` : "–"}</td>
      <td class="quiet">{dateTime(Date.parse(c.since))}</td>
    </tr>
  );
}
