import { useCallback, useMemo, useState } from "preact/hooks";
import { Log } from "../agent/log";
import { standing } from "../agent/row";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { localTimes, plain } from "../format";
import type { Process, Processes } from "../generated/api";
import { includes } from "../shell/role";
import { usePoll } from "../use-poll";

interface Props {
  api: Api;
  /** The node on which the agents are. */
  node: string;
  role: string;
  epoch: number;
}

const every = 4000;

/** The agents of another node, asked through the tree: their state, start and stop, and their log. */
export function FarAgents({ api, node, role, epoch }: Props) {
  const far = useMemo(() => api.at(node), [api, node]);
  const [changes, setChanges] = useState(0);
  const [chosen, setChosen] = useState("");
  const act = useAct();
  const ask = useCallback(() => far.get<Processes>("processes"), [far]);
  const { data, problem } = usePoll(ask, every, epoch + changes);
  const perform = async (p: Process, action: string) => {
    if (action === "stop" && !confirm(`Stop ${plain(p.name)} on ${plain(node)}?`)) return;
    await act.perform(() => far.send("POST", `agents/${encodeURIComponent(p.name)}/${action}`));
    setChanges((n) => n + 1);
  };
  const process = data?.processes.find((p) => p.name === chosen);
  return (
    <>
      <section class="card panel" aria-labelledby="far-title">
        <h2 id="far-title">Agents of {plain(node)}</h2>
        <p role="alert" class="problem">
          {localTimes(plain(act.problem || problem))}
        </p>
        {data?.processes.length === 0 && <p class="quiet">None is installed there.</p>}
        <ul class="agent-lines" aria-label={`Agents of ${plain(node)}`}>
          {data?.processes.map((p) => (
            <Line
              key={p.name}
              process={p}
              may={includes(role, "operator") && !act.busy}
              onAct={(action) => void perform(p, action)}
              onLog={() => setChosen(p.name)}
            />
          ))}
        </ul>
      </section>
      {process && (
        <Log key={chosen} api={far} name={chosen} role={role} epoch={epoch} process={process} />
      )}
    </>
  );
}

interface LineProps {
  process: Process;
  may: boolean;
  onAct(action: string): void;
  onLog(): void;
}

function Line({ process: p, may, onAct, onLog }: LineProps) {
  const at = standing({ name: p.name, process: p });
  const name = plain(p.name);
  const actions = p.state === "stopped" || p.state === "failed" ? ["start"] : ["restart", "stop"];
  return (
    <li>
      <strong>{name}</strong>
      <span class={`agent-state is-${at.level}`}>
        <span class="dot" aria-hidden="true" /> {plain(at.words)}
      </span>
      {may &&
        actions.map((a) => (
          <button key={a} type="button" aria-label={`${a} ${name}`} onClick={() => onAct(a)}>
            {a}
          </button>
        ))}
      <button type="button" aria-label={`Log of ${name}`} onClick={onLog}>
        Log
      </button>
    </li>
  );
}
