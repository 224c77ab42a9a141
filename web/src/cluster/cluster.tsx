import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { Cluster, Replica } from "../generated/api";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { AddForm } from "./add-form";
import { facts, levelOf } from "./words";
import "../agent/agents.css";
import "../node/nodes.css";
import "./cluster.css";
import { reasonOf } from "../language/said";

const often = 2_000;
/** How many replicas there may be. */
const most = 5;

/** The replicas of the node: how each is, and whether anything that was acknowledged is lost. */
export function ClusterScreen({ api, session, epoch }: ScreenProps) {
  const [changes, setChanges] = useState(0);
  const [wrong, setWrong] = useState("");
  const ask = useCallback(() => api.get<Cluster>("cluster"), [api]);
  const { data, problem } = usePoll(ask, often, epoch + changes);
  const change = async (by: () => Promise<string>) => {
    setWrong(await by());
    setChanges((n) => n + 1);
  };
  const mayChange = includes(session.role, "administrator");
  return (
    <div class="screen cluster">
      <h1>Cluster</h1>
      {(wrong || problem) && (
        <p role="alert" class="problem">
          {plain(wrong || problem)}
        </p>
      )}
      {!data && !problem && <p class="asking">Asking the node about its replicas…</p>}
      {data && (
        <section
          class={`card panel cluster-state is-${levelOf(data)}`}
          aria-label="State of the cluster"
        >
          <p class="cluster-words">{plain(data.sentence)}</p>
          {data.ledger && <p class="cluster-words">{plain(data.ledger)}</p>}
        </section>
      )}
      {data && (
        <div class="replicas">
          {data.replicas.map((r) => (
            <ReplicaCard
              key={r.name}
              replica={r}
              isHere={r.name === data.self}
              onRemove={
                mayChange && data.replicas.length > 3
                  ? () => change(() => removed(api, r.name))
                  : undefined
              }
              onDrain={
                mayChange && r.reached && !["joining", "leaving", "witness"].includes(r.state)
                  ? () => change(() => drained(api, r))
                  : undefined
              }
            />
          ))}
        </div>
      )}
      {data && mayChange && data.replicas.length < most && (
        <AddForm api={api} onAdded={() => setChanges((n) => n + 1)} />
      )}
    </div>
  );
}

/** Removes a replica, if the person confirms it, and says why not, "" if it was. */
async function removed(api: Api, name: string): Promise<string> {
  const question = `Remove the replica ${plain(name)}? It leaves when the others have all logs, and acknowledges nothing from then on.`;
  if (!confirm(question)) return "";
  try {
    await api.send("DELETE", `cluster/replicas/${encodeURIComponent(name)}`);
    return "";
  } catch (err) {
    return err instanceof Error ? err.message : String(err);
  }
}

const isDrained = (r: Replica) => r.state === "draining" || r.state === "drained";

/** Has a replica give its clients and devices to the others, if the person confirms it, or take clients again. Says why not, "" if it does. */
async function drained(api: Api, r: Replica): Promise<string> {
  const undo = isDrained(r);
  const question = `Drain the replica ${plain(r.name)}? Its MQTT clients and devices go to the others.`;
  if (!undo && !confirm(question)) return "";
  try {
    await api.send("POST", `cluster/replicas/${encodeURIComponent(r.name)}/drain`, { undo });
    return "";
  } catch (err) {
    return err instanceof Error ? err.message : String(err);
  }
}

interface CardProps {
  replica: Replica;
  isHere: boolean;
  onRemove: (() => void) | undefined;
  onDrain: (() => void) | undefined;
}

function ReplicaCard({ replica, isHere, onRemove, onDrain }: CardProps) {
  const drainWords = isDrained(replica) ? "Take clients again" : "Drain";
  const isAway = !replica.reached && replica.state !== "joining";
  return (
    <section class={`card panel ${isAway ? "is-away" : ""}`} aria-label={plain(replica.name)}>
      <h2>
        {plain(replica.name)}
        {isHere && " (this node)"}
      </h2>
      <p class="quiet">{plain(replica.address)}</p>
      <dl class="replica-facts">
        {facts(replica).map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
      {replica.note && <p class="problem">{reasonOf(replica.note)}</p>}
      {onDrain && (
        <button
          type="button"
          onClick={onDrain}
          aria-label={`${drainWords}: ${plain(replica.name)}`}
        >
          {drainWords}
        </button>
      )}
      {onRemove && (
        <button type="button" onClick={onRemove} aria-label={`Remove ${plain(replica.name)}`}>
          Remove
        </button>
      )}
    </section>
  );
}
