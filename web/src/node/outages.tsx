import { plain, plural, zoneWords } from "../format";
import type { Node } from "../generated/api";
import { nodeAddress } from "../shell/place";
import { outagesOf, type ToldOutage } from "./outage";

interface Props {
  nodes: readonly Node[];
  now: number;
  /** As many are shown at first; the rest on demand. */
  most: number;
  /** Leads to the page of each node, from the ledger. */
  linked?: boolean;
}

/** When nodes were not connected, and what became of what they recorded meanwhile. */
export function Outages({ nodes, now, most, linked = false }: Props) {
  const list = outagesOf(nodes, now);
  if (list.length === 0) return null;
  const rest = list.slice(most);
  return (
    <section class="card panel outages" aria-labelledby="outages-title">
      <div class="panel-head">
        <h2 id="outages-title">Without connection</h2>
        <span class="quiet">{zoneWords()}</span>
      </div>
      <List list={list.slice(0, most)} label="Outages" linked={linked} />
      {rest.length > 0 && (
        <details>
          <summary>{plural(rest.length, "earlier outage")}</summary>
          <List list={rest} label="Earlier outages" linked={linked} />
        </details>
      )}
      <details class="outage-why">
        <summary>How it is counted and proved</summary>
        <p>
          A node numbers what it records: each block says how many readings came before it. When a
          node comes back, it says up to which number it has them on its own disk, and this node
          compares that with its own disk. The difference is what waited. A block is acknowledged
          when it is on disk here; until then it stays there. A block that comes twice is known by
          its number and taken once; a number that never comes is counted as missing, and stays in
          the list of gaps.
        </p>
        {!linked && (
          <p>
            The same figures as counted at each node: <a href="/ledger">ledger</a>.
          </p>
        )}
      </details>
    </section>
  );
}

interface ListProps {
  list: readonly ToldOutage[];
  label: string;
  linked: boolean;
}

const List = ({ list, label, linked }: ListProps) => (
  <ul class="outage-list" aria-label={label}>
    {list.map((t) => (
      <li key={`${t.node} ${t.outage.from}`} class={`is-${t.level}`}>
        <span class="dot" aria-hidden="true" />
        <p>
          {t.text} {linked && <a href={nodeAddress(t.node)}>Open {plain(t.node)}</a>}
        </p>
      </li>
    ))}
  </ul>
);
