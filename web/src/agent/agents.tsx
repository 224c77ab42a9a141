import { useState } from "preact/hooks";
import { bytes, percentOf, plain, plural, rate } from "../format";
import { reasonOf } from "../language/said";
import { agentAddress, agentAt } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { Install } from "./install";
import { AgentPage } from "./page";
import { healthOf, type Row, standing } from "./row";
import { type Fleet, useAgents } from "./use-agents";
import "../style/data-table.css";
import "./agents.css";

/** The agents, or one of them. */
export function AgentsScreen(props: ScreenProps) {
  const { api, session, place, epoch } = props;
  const [changes, setChanges] = useState(0);
  const { data: fleet, problem } = useAgents(
    api,
    includes(session.role, "engineer"),
    epoch + changes,
  );
  const again = () => setChanges((n) => n + 1);
  const name = agentAt(place);
  if (!fleet) {
    return <p class="asking">{plain(problem) || "Asking for the agents…"}</p>;
  }
  if (name) {
    return <AgentPage key={name} {...props} name={name} fleet={fleet} onChanged={again} />;
  }
  return <List {...props} fleet={fleet} problem={problem} onChanged={again} />;
}

interface ListProps extends ScreenProps {
  fleet: Fleet;
  onChanged(): void;
}

function List({ api, session, fleet, problem, onChanged }: ListProps) {
  const [installing, setInstalling] = useState(false);
  const mayInstall = includes(session.role, "engineer") && fleet.installs;
  return (
    <div class="screen agents">
      <h1>Agents</h1>
      {problem && <p class="problem">{plain(problem)}</p>}
      {installing && (
        <Install
          api={api}
          role={session.role}
          onInstalled={onChanged}
          onClose={() => setInstalling(false)}
        />
      )}
      <section class="card panel" aria-labelledby="agents-title">
        <div class="panel-head">
          <h2 id="agents-title">{plural(fleet.rows.length, "agent")}</h2>
          {mayInstall && !installing && (
            <button type="button" class="primary" onClick={() => setInstalling(true)}>
              Install an agent
            </button>
          )}
        </div>
        {fleet.rows.length === 0 ? <Empty /> : <Table rows={fleet.rows} />}
        <Isolation fleet={fleet} />
      </section>
    </div>
  );
}

/** How to begin. */
const Empty = () => (
  <div class="agents-empty">
    <p>
      An agent is a program with an identity of its own on the bus, mostly in Python. There is none
      yet. Begin one on your computer:
    </p>
    <pre>
      {`voltbus agent new boiler-watch
voltbus agent install boiler-watch --start`}
    </pre>
    <p class="quiet">
      The first line writes a project with a test that passes; the second one installs it here. A
      wheel or an archive can also be installed on this screen.
    </p>
  </div>
);

function Isolation({ fleet }: { fleet: Fleet }) {
  if (!fleet.installs) {
    return <p class="quiet">This node installs no agents; those that connect are listed.</p>;
  }
  return (
    <p class={fleet.isolation.length === 0 ? "notice is-warn" : "quiet"}>
      {fleet.isolation.length === 0
        ? "Agents on this node are not kept apart: one can read what the node's user can. Run only agents that you trust."
        : `Agents are kept apart by ${fleet.isolation.map(plain).join(" and ")}.`}
      {fleet.whyNot && ` Users of their own: ${reasonOf(fleet.whyNot)}.`}
    </p>
  );
}

const mostShown = 500;

function Table({ rows }: { rows: readonly Row[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll-x" tabIndex={0} aria-label="All agents">
      <table class="data-table agents-table">
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col">Health</th>
            <th scope="col" class="number">
              Memory
            </th>
            <th scope="col" class="number">
              CPU
            </th>
            <th scope="col" class="number">
              In/s
            </th>
            <th scope="col" class="number">
              Out/s
            </th>
            <th scope="col" class="number">
              Failures in a row
            </th>
            <th scope="col">Kept apart by</th>
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, mostShown).map((r) => (
            <Line key={r.name} row={r} />
          ))}
        </tbody>
      </table>
      {rows.length > mostShown && (
        <p class="quiet">… and {plural(rows.length - mostShown, "more agent")}.</p>
      )}
    </section>
  );
}

function Line({ row }: { row: Row }) {
  const { process: p, peer, flow } = row;
  const at = standing(row);
  const health = healthOf(peer);
  return (
    <tr>
      <th scope="row">
        <a class="link" href={agentAddress(row.name)}>
          {plain(row.name)}
        </a>
        <span class="quiet agent-version">{versionOf(row)}</span>
      </th>
      <td>
        <span class={`agent-state is-${at.level}`}>
          <span class="dot" aria-hidden="true" /> {plain(at.words)}
        </span>
        {p?.text && <span class="quiet agent-version">{plain(p.text)}</span>}
      </td>
      <td class={health.level === "bad" ? "is-bad" : ""}>
        {plain(health.words)}
        {health.why && <span class="agent-version agent-why">{reasonOf(health.why)}</span>}
      </td>
      <td class="number">{p && p.memory > 0 ? bytes(p.memory) : "–"}</td>
      <td class="number">{p && p.memory > 0 ? percentOf(p.cpu) : "–"}</td>
      <td class="number">{flow ? rate(flow.in) : "–"}</td>
      <td class="number">{flow ? rate(flow.out) : "–"}</td>
      <td class={`number${p && p.failures > 0 ? " is-bad" : ""}`}>{p ? p.failures : "–"}</td>
      <td class="quiet">{p ? p.isolation.map(plain).join(", ") || "nothing" : "–"}</td>
    </tr>
  );
}

/** The version that its makers gave it, or what it says itself. */
function versionOf({ process: p, peer }: Row): string {
  if (p) return plain(p.release ? `${p.release} (installed as ${p.version})` : `${p.version}`);
  return peer?.version ? plain(peer.version) : "runs elsewhere";
}
