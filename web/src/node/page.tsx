import { plain } from "../format";
import type { Child, Node } from "../generated/api";
import { nodeAddress, nodeAt } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { FarAgents } from "./agents";
import { Facts } from "./facts";
import { nodeStanding } from "./fleet";
import { History } from "./history";
import { FarLive } from "./live";
import { NodeLog } from "./log";
import { Member } from "./member";
import { Outages } from "./outages";
import { Proof } from "./proof";
import { Push } from "./push";
import { useChildren, useFleet } from "./use-fleet";
import { childStanding } from "./words";
import "../agent/agents.css";
import "../style/data-table.css";
import "./nodes.css";
import { reasonOf } from "../language/said";

/** One node: how it is, how it is joined, and what happened to it. */
export function NodeScreen(props: ScreenProps) {
  const { api, place, epoch } = props;
  const { data: fleet, problem } = useFleet(api);
  const { data: joined, problem: other, again } = useChildren(api, fleet, epoch);
  const name = nodeAt(place);
  if (!fleet || !joined) {
    return <p class="asking">{plain(problem || other) || "Asking about the node…"}</p>;
  }
  const node = fleet.nodes.find((n) => n.name === name);
  const child = joined.find((c) => c.name === name);
  if (!node && !child) return <Nobody name={name} />;
  return (
    <Page
      {...props}
      key={name}
      {...{ name, node, child, problem: problem || other }}
      onChanged={again}
    />
  );
}

const Nobody = ({ name }: { name: string }) => (
  <div class="card nothing">
    <h1>There is no node “{plain(name)}”</h1>
    <p>It may have been forgotten, or be called otherwise.</p>
    <p class="actions">
      <a class="button" href="/nodes">
        Go to the nodes
      </a>
    </p>
  </div>
);

interface PageProps extends ScreenProps {
  name: string;
  /** What it says of itself; undefined of one that is not in the tree. */
  node: Node | undefined;
  /** Membership, if it is directly below. */
  child: Child | undefined;
  onChanged(): void;
}

function Page(props: PageProps) {
  const { api, session, place, epoch, name, node, child, problem, onChanged } = props;
  const now = api.now();
  const isOut = child && child.state !== "approved";
  const at = node && !isOut ? nodeStanding(node, now) : child && childStanding(child);
  const parts = partsOf(node, child, session.role);
  const asked = new URLSearchParams(place.search).get("part") ?? "";
  const part = parts.find((p) => p.key === asked)?.key ?? parts[0]?.key;
  return (
    <div class="screen nodes">
      <h1>{plain(name)}</h1>
      <p class="agent-head">
        <span class={`node-state is-${at?.level}`} role="status" aria-label="State">
          <span class="dot" aria-hidden="true" /> {at?.words}
        </span>
        {node?.note && <span>{reasonOf(node.note)}</span>}
        <a href="/nodes">All nodes</a>
        <a href="/ledger">Ledger</a>
      </p>
      {problem && <p class="problem">{plain(problem)}</p>}
      <nav class="parts" aria-label="Parts">
        {parts.map((p) => (
          <a
            key={p.key}
            href={nodeAddress(name) + (p.key ? `?part=${p.key}` : "")}
            {...(p.key === part ? { "aria-current": "page" as const } : {})}
          >
            {p.label}
          </a>
        ))}
      </nav>
      {part === "" && node && <Outages nodes={[node]} now={now} most={1} />}
      {part === "" && node && <Proof api={api} node={node} />}
      {part === "" && node && <Facts node={node} now={now} />}
      {part === "live" && node && <FarLive api={api} node={node} place={place} epoch={epoch} />}
      {part === "settings" && (
        <Push api={api} node={name} isAway={node?.state === "away"} epoch={epoch} />
      )}
      {part === "joined" && child && (
        <Member api={api} role={session.role} child={child} onChanged={onChanged} />
      )}
      {part === "agents" && <FarAgents api={api} node={name} role={session.role} epoch={epoch} />}
      {part === "log" && node && <NodeLog api={api} node={node} epoch={epoch} />}
      {part === "history" && <History api={api} name={name} epoch={epoch} />}
    </div>
  );
}

/** The parts that there are of a node, and that who looks may see. */
function partsOf(node: Node | undefined, child: Child | undefined, role: string) {
  const isFar = node !== undefined && node.state !== "here";
  const isEngineer = includes(role, "engineer");
  const all = [
    { key: "", label: "Status", shown: node },
    { key: "live", label: "Live", shown: isFar },
    { key: "agents", label: "Agents", shown: isFar },
    { key: "settings", label: "Configuration", shown: isFar && isEngineer },
    { key: "log", label: "Log", shown: node && isEngineer },
    { key: "joined", label: "Membership", shown: child },
    { key: "history", label: "What happened", shown: isEngineer },
  ];
  return all.filter((p) => p.shown);
}
