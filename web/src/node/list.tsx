import { bytes, count, plain, plural, span } from "../format";
import type { Child, Node, Nodes } from "../generated/api";
import { coded } from "../language/codes";
import { fixed } from "../language/number";
import { reasonOf } from "../language/said";
import { go, nodeAddress } from "../shell/place";
import {
  type Choice,
  choiceAddress,
  choiceIn,
  chosen,
  directionOf,
  fleetSentence,
  nodeStanding,
  offsetOf,
  offsetWords,
  type SortKey,
  waitsFor,
} from "./fleet";
import { FleetMap } from "./map";
import { childStanding } from "./words";

interface Props {
  fleet: Nodes;
  /** The nodes that joined this one, also those that are not in the tree. */
  joined: readonly Child[];
  search: string;
  now: number;
}

/** This node and all its descendants: a list to sort and filter, or a map of who hangs under whom. */
export function List({ fleet, joined, search, now }: Props) {
  const choice = choiceIn(search);
  const choose = (part: Partial<Choice>) => go(choiceAddress({ ...choice, ...part }), "replace");
  const shown = chosen(fleet.nodes, choice, now);
  const sentence = fleetSentence(fleet.nodes, now);
  const outside = joined.filter((c) => c.state === "revoked" || c.state === "expired");
  return (
    <>
      <div class={`card node-word is-${sentence.level}`}>
        <p role="status" aria-label="All nodes">
          <span class="dot" aria-hidden="true" /> {sentence.words}
        </p>
        {fleet.above.length > 0 && (
          <p class="quiet">
            Above: {fleet.above.map(plain).join(" ← ")}. <a href="/nodes/parent">Its connection</a>
          </p>
        )}
      </div>
      {fleet.refused.map((r) => (
        <p key={r.name} class="problem">
          The parent does not let {plain(r.name)} into the tree: {reasonOf(r.why)}
        </p>
      ))}
      {fleet.nodes.length === 1 && <Empty />}
      {fleet.nodes.length > 1 && (
        <section class="card panel" aria-labelledby="nodes-title">
          <div class="panel-head">
            <h2 id="nodes-title">
              {shown.length === fleet.nodes.length
                ? plural(shown.length, "node")
                : `${shown.length} of ${plural(fleet.nodes.length, "node")}`}
            </h2>
            <Filter choice={choice} onChoose={choose} />
          </div>
          {choice.asMap ? (
            <FleetMap nodes={fleet.nodes} shown={shown} now={now} />
          ) : (
            <Table nodes={shown} choice={choice} now={now} onSort={(sort) => choose({ sort })} />
          )}
        </section>
      )}
      {outside.length > 0 && (
        <p class="quiet">
          Not let in:{" "}
          {outside.map((c) => (
            <a key={c.name} href={nodeAddress(c.name)}>
              {plain(c.name)} ({childStanding(c).words}){" "}
            </a>
          ))}
        </p>
      )}
    </>
  );
}

interface FilterProps {
  choice: Choice;
  onChoose(part: Partial<Choice>): void;
}

const Filter = ({ choice, onChoose }: FilterProps) => (
  <div class="agent-filter">
    <input
      type="search"
      aria-label="Filter the nodes"
      placeholder="Name, role, version, state"
      maxLength={100}
      value={choice.words}
      onInput={(e) => onChoose({ words: e.currentTarget.value })}
    />
    <label class="node-only">
      <input
        type="checkbox"
        checked={choice.onlyTroubled}
        onChange={(e) => onChoose({ onlyTroubled: e.currentTarget.checked })}
      />
      Only nodes that need attention
    </label>
    {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
    <div role="group" aria-label="Form" class="joined">
      <button type="button" aria-pressed={!choice.asMap} onClick={() => onChoose({ asMap: false })}>
        List
      </button>
      <button type="button" aria-pressed={choice.asMap} onClick={() => onChoose({ asMap: true })}>
        Map
      </button>
    </div>
  </div>
);

const columns: readonly { key: SortKey; name: string; number?: boolean }[] = [
  { key: "name", name: "Name" },
  { key: "state", name: "State" },
  { key: "version", name: "Version" },
  { key: "rtt", name: "Round trip", number: true },
  { key: "clock", name: "Clock", number: true },
  { key: "waiting", name: "Backlog", number: true },
  { key: "disk", name: "Disk left", number: true },
  { key: "agents", name: "Agents", number: true },
  { key: "devices", name: "Devices", number: true },
];

const mostShown = 500;

interface TableProps {
  nodes: readonly Node[];
  choice: Choice;
  now: number;
  onSort(sort: SortKey | ""): void;
}

function Table({ nodes, choice, now, onSort }: TableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll-x" tabIndex={0} aria-label="List of nodes">
      <table class="data-table nodes-table">
        <thead>
          <tr>
            {columns.map((c) => (
              <th
                key={c.key}
                scope="col"
                class={c.number ? "number" : ""}
                {...(choice.sort === c.key ? { "aria-sort": directionOf(c.key) } : {})}
              >
                <button
                  type="button"
                  class="link"
                  title={choice.sort === c.key ? "Back to the order of the tree" : "Sort by this"}
                  onClick={() => onSort(choice.sort === c.key ? "" : c.key)}
                >
                  {c.name}
                  {choice.sort === c.key && (
                    <span aria-hidden="true">
                      {directionOf(c.key) === "ascending" ? " ↑" : " ↓"}
                    </span>
                  )}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {nodes.slice(0, mostShown).map((n) => (
            <Line key={n.path.join("/")} node={n} isTree={choice.sort === ""} now={now} />
          ))}
        </tbody>
      </table>
      {nodes.length === 0 && <p class="empty">No node is like that.</p>}
      {nodes.length > mostShown && (
        <p class="quiet">… and {plural(nodes.length - mostShown, "more node")}; filter them.</p>
      )}
    </section>
  );
}

function Line({ node: n, isTree, now }: { node: Node; isTree: boolean; now: number }) {
  const at = nodeStanding(n, now);
  const waits = waitsFor(n, now);
  const depth = isTree ? Math.min(8, n.path.length) : 0;
  const isHere = n.state === "here";
  return (
    <tr>
      <th scope="row">
        <span class={`node-depth-${depth}`}>
          <a class="link" href={nodeAddress(n.name)}>
            {plain(n.name)}
          </a>
        </span>
        <span class={`node-more node-depth-${depth}`}>
          {n.roles.map(coded).map(plain).join(", ")}
        </span>
      </th>
      <td>
        <span class={`node-state is-${at.level}`}>
          <span class="dot" aria-hidden="true" /> {at.words}
        </span>
        {n.note && <span class="node-more">{reasonOf(n.note)}</span>}
      </td>
      <td>{plain(n.version) || "–"}</td>
      <td class="number">{isHere || !n.heard ? "–" : `${fixed(n.rtt_ms, 1)} ms`}</td>
      <td class={`number${Math.abs(offsetOf(n)) > 5000 ? " is-bad" : ""}`}>
        {isHere || !n.heard ? "–" : offsetWords(offsetOf(n))}
      </td>
      <td class="number">
        {n.waiting === 0 ? "nothing" : plural(n.waiting, "sample")}
        {waits > 0 && <span class="node-more">{span(waits)}</span>}
      </td>
      <td class="number">{n.disk_size > 0 ? bytes(n.disk) : "–"}</td>
      <td class={`number${n.agents_failing > 0 ? " is-bad" : ""}`}>
        {part(n.agents, n.agents_failing)}
      </td>
      <td class={`number${n.devices_failing > 0 ? " is-bad" : ""}`}>
        {part(n.devices, n.devices_failing)}
      </td>
    </tr>
  );
}

const part = (all: number, failing: number) =>
  failing > 0 ? `${count(all - failing)} of ${count(all)}` : count(all);

/** How to begin. */
const Empty = () => (
  <section class="card panel" aria-labelledby="nodes-title">
    <h2 id="nodes-title">No child nodes</h2>
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
