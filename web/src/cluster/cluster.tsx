import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { Cluster, Replica } from "../generated/api";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { facts, levelOf } from "./words";
import "./cluster.css";

const often = 2_000;

/** The replicas of the node: how each is, and whether anything that was acknowledged is lost. */
export function ClusterScreen({ api, session, epoch }: ScreenProps) {
  const [changes, setChanges] = useState(0);
  const [wrong, setWrong] = useState("");
  const ask = useCallback(() => api.get<Cluster>("cluster"), [api]);
  const { data, problem } = usePoll(ask, often, epoch + changes);
  const remove = async (r: Replica) => {
    setWrong(await removed(api, r.name));
    setChanges((n) => n + 1);
  };
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
                includes(session.role, "administrator") && data.replicas.length > 3
                  ? () => remove(r)
                  : undefined
              }
            />
          ))}
        </div>
      )}
    </div>
  );
}

/** Removes a replica, if the person confirms it, and says why not, "" if it was. */
async function removed(api: Api, name: string): Promise<string> {
  if (!confirm(`Remove the replica ${plain(name)}? It acknowledges nothing from then on.`))
    return "";
  try {
    await api.send("DELETE", `cluster/replicas/${encodeURIComponent(name)}`);
    return "";
  } catch (err) {
    return err instanceof Error ? err.message : String(err);
  }
}

interface CardProps {
  replica: Replica;
  isHere: boolean;
  onRemove: (() => void) | undefined;
}

function ReplicaCard({ replica, isHere, onRemove }: CardProps) {
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
      {replica.note && <p class="problem">{plain(replica.note)}</p>}
      {onRemove && (
        <button type="button" onClick={onRemove} aria-label={`Remove ${plain(replica.name)}`}>
          Remove
        </button>
      )}
    </section>
  );
}
