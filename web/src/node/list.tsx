import { dateTime, plain, plural } from "../format";
import type { Child } from "../generated/api";
import { nodeAddress } from "../shell/place";
import { childStanding } from "./words";

/** The nodes below this one. */
export function List({ nodes }: { nodes: readonly Child[] }) {
  if (nodes.length === 0) return <Empty />;
  return (
    <section class="card panel" aria-labelledby="nodes-title">
      <h2 id="nodes-title">{plural(nodes.length, "node")} below this one</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label="All nodes">
        <table class="data-table nodes-table">
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">State</th>
              <th scope="col">Its points lie below</th>
              <th scope="col">Connected since</th>
              <th scope="col">Version when it joined</th>
            </tr>
          </thead>
          <tbody>
            {nodes.map((c) => (
              <Line key={c.name} child={c} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Line({ child: c }: { child: Child }) {
  const at = childStanding(c);
  return (
    <tr>
      <th scope="row">
        <a class="link" href={nodeAddress(c.name)}>
          {plain(c.name)}
        </a>
      </th>
      <td class={`node-state is-${at.level}`}>
        <span class="dot" aria-hidden="true" /> {at.words}
      </td>
      <td>{plain(c.prefix) || "anywhere"}</td>
      <td class="number">{c.online ? dateTime(Date.parse(c.online.since)) : "–"}</td>
      <td>{plain(c.version) || "–"}</td>
    </tr>
  );
}

/** How to begin. */
const Empty = () => (
  <section class="card panel" aria-labelledby="nodes-title">
    <h2 id="nodes-title">No node is below this one</h2>
    <p>
      A node can send its data to another one: a plant to its campus, a campus to its region. The
      one below connects out to the one above, and no reading is lost on the way.
    </p>
    <p class="actions">
      <a class="button primary" href="/nodes/join">
        Let a node join this one
      </a>
      <a class="button" href="/nodes/parent">
        Join this one to another
      </a>
    </p>
  </section>
);
