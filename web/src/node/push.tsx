import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { localTimes, plain } from "../format";
import { useConfig } from "../settings/settings";
import { Workbench } from "../settings/workbench";
import { keep, push, type Trial, trialWords } from "./trial";

interface Props {
  api: Api;
  /** Whose configuration it is. */
  node: string;
  isAway: boolean;
  epoch: number;
}

const bounds = [
  { seconds: 30, label: "30 seconds" },
  { seconds: 60, label: "1 minute" },
  { seconds: 300, label: "5 minutes" },
  { seconds: 1800, label: "30 minutes" },
];

/** The configuration of another node: changed here, it is on trial there until the node is reached with it. */
export function Push({ api, node, isAway, epoch }: Props) {
  const far = useMemo(() => api.at(node), [api, node]);
  const { config, problem, read } = useConfig(far, epoch);
  const [bound, setBound] = useState(60);
  const [trial, setTrial] = useState<Trial>();
  const kept = useRef(false);
  const stop = useRef(new AbortController());
  useEffect(() => {
    stop.current = new AbortController();
    const { current } = stop;
    return () => current.abort();
  }, []);
  const apply = async (text: string, version: string) => {
    const { signal } = stop.current;
    const isKept = () => kept.current;
    kept.current = false;
    try {
      return await push({ far, node, text, version, bound, signal, told: setTrial, isKept });
    } finally {
      setTrial(undefined);
      if (!signal.aborted) await read();
    }
  };
  const words = {
    act: `Push to ${plain(node)}`,
    busy: "On trial…",
    done: `${plain(node)} was reached with the new configuration, and keeps it.`,
  };
  return (
    <div class="settings node-settings">
      {problem && <Refused {...{ node, problem, isAway }} />}
      {!config && !problem && <p class="asking">Asking {plain(node)} for its configuration…</p>}
      {config && (
        <Workbench
          api={far}
          config={config}
          apply={apply}
          words={words}
          beside={
            trial ? (
              <Course
                far={far}
                node={node}
                trial={trial}
                onKept={() => {
                  kept.current = true;
                }}
              />
            ) : (
              <Bound seconds={bound} node={node} onSeconds={setBound} />
            )
          }
          onChanged={read}
        />
      )}
    </div>
  );
}

const Refused = ({
  node,
  problem,
  isAway,
}: Pick<Props, "node" | "isAway"> & { problem: string }) => (
  <section class="card panel" aria-labelledby="refused-title">
    <h2 id="refused-title">Its configuration cannot be read from here</h2>
    <p class="problem">{localTimes(plain(problem))}</p>
    {!isAway && (
      <p class="quiet">
        {plain(node)} decides itself who may change it. In <code>uplink.allow</code> of its own
        configuration it must have <code>call node:config.get</code>, <code>.check</code>,{" "}
        <code>.set</code> and <code>.confirm</code>, and <code>.version</code> for earlier texts;
        nodes on the way to it must let that pass.
      </p>
    )}
  </section>
);

interface BoundProps {
  seconds: number;
  node: string;
  onSeconds(seconds: number): void;
}

const Bound = ({ seconds, node, onSeconds }: BoundProps) => (
  <p class="trial-bound">
    <label>
      On trial for at most{" "}
      <select value={seconds} onChange={(e) => onSeconds(Number(e.currentTarget.value))}>
        {bounds.map((b) => (
          <option key={b.seconds} value={b.seconds}>
            {b.label}
          </option>
        ))}
      </select>
    </label>{" "}
    <span class="quiet">
      If the new configuration cuts {plain(node)} off, it goes back to this one by itself.
    </span>
  </p>
);

interface CourseProps {
  far: Api;
  node: string;
  trial: Trial;
  onKept(): void;
}

/** The trial while it lasts. */
function Course({ far, node, trial, onKept }: CourseProps) {
  const [now, setNow] = useState(Date.now());
  const began = useRef(now);
  const act = useAct();
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 500);
    return () => clearInterval(timer);
  }, []);
  const whole = Math.max(1, trial.until - began.current);
  return (
    <div class={`notice trial ${trial.is === "sent" ? "" : "is-warn"}`}>
      <p role="status" aria-label="Trial">
        {trialWords(node, trial, now)}
      </p>
      <progress
        aria-label="Time of the trial that is left"
        max={whole}
        value={Math.max(0, trial.until - now)}
      />
      {trial.is === "reached" && (
        <p class="actions">
          <button
            type="button"
            class="primary"
            disabled={act.busy}
            onClick={() =>
              void act.perform(() => keep(far, trial)).then((done) => done && onKept())
            }
          >
            Keep it
          </button>
        </p>
      )}
      <p role="alert" class="problem">
        {localTimes(plain(act.problem))}
      </p>
    </div>
  );
}
