import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { dateTime, plain } from "../format";
import { reasonOf } from "../language/said";
import { wordsOf } from "../use-poll";
import { type Experiment, type Order, type Run, runResource } from "./calls";
import { compareRuns, figure } from "./figures";
import { RunList, showRun } from "./run-list";

interface Props {
  api: Api;
  experiment: Experiment;
  /** Its runs, the newest first. */
  runs: readonly Run[];
  mayRun: boolean;
}

/** One experiment: its question, the published table, a form to run it, and its runs compared. */
export function ExperimentPage({ api, experiment: e, runs, mayRun }: Props) {
  return (
    <div class="screen">
      <p>
        <a class="link" href="/lab">
          ‹ All experiments
        </a>
      </p>
      <h1>{reasonOf(e.title)}</h1>
      <p class="lab-intro">{reasonOf(e.question)}</p>
      {mayRun && <RunForm api={api} experiment={e} />}
      <Published experiment={e} />
      <Comparison api={api} runs={runs} unit={e.unit} />
      <RunList runs={runs} problem="" />
      <Words title="How it is measured" lines={e.method ?? []} />
      <Words title="What the figures do not say" lines={e.limits ?? []} />
    </div>
  );
}

function Words({ title, lines }: { title: string; lines: readonly string[] }) {
  if (lines.length === 0) return null;
  return (
    <section class="card panel">
      <h2>{title}</h2>
      <ul class="lab-words">
        {lines.map((line) => (
          <li key={line}>{plain(line)}</li>
        ))}
      </ul>
    </section>
  );
}

function RunForm({ api, experiment: e }: { api: Api; experiment: Experiment }) {
  const [quick, setQuick] = useState(true);
  const [peers, setPeers] = useState(false);
  const [repeats, setRepeats] = useState("");
  const [settings, setSettings] = useState<Record<string, string>>({});
  const [problem, setProblem] = useState("");
  const settable = e.settings ?? [];
  const start = async (event: Event) => {
    event.preventDefault();
    const chosen = Object.fromEntries(Object.entries(settings).filter(([, v]) => v !== ""));
    const order: Order = {
      experiment: e.name,
      settings: chosen,
      repeats: Number(repeats) || 0,
      quick,
      with_peers: peers,
    };
    try {
      showRun((await api.send<Run>("POST", "lab/runs", order)).id);
    } catch (err) {
      setProblem(wordsOf(err));
    }
  };
  return (
    <form class="card panel lab-form" aria-label="Run it" onSubmit={(ev) => void start(ev)}>
      <h2>Run it here</h2>
      <div class="lab-switches">
        <label>
          <input type="checkbox" checked={quick} onChange={() => setQuick(!quick)} />
          Quick: few and small cases, to see that it works
        </label>
        {(e.peers ?? []).length > 0 && (
          <label>
            <input type="checkbox" checked={peers} onChange={() => setPeers(!peers)} />
            With peers that are installed here: {(e.peers ?? []).map(plain).join(", ")}
          </label>
        )}
      </div>
      <div class="lab-settings">
        <label>
          <span>Repeats</span>
          <input
            type="number"
            min={1}
            max={100}
            placeholder="as usual"
            value={repeats}
            onInput={(ev) => setRepeats(ev.currentTarget.value)}
          />
        </label>
        {settable.map((s) => (
          <label key={s.name}>
            <span>{plain(s.name)}</span>
            <input
              type="text"
              maxLength={200}
              placeholder={(quick && s.quick) || s.default}
              value={settings[s.name] ?? ""}
              onInput={(ev) => setSettings({ ...settings, [s.name]: ev.currentTarget.value })}
            />
            <span class="quiet">{plain(s.doc)}</span>
          </label>
        ))}
      </div>
      {problem && (
        <p class="problem" role="alert">
          {plain(problem)}
        </p>
      )}
      <p class="actions">
        <button type="submit" class="primary">
          Run
        </button>
      </p>
    </form>
  );
}

function Published({ experiment: e }: { experiment: Experiment }) {
  const rows = e.published ?? [];
  const labels = (rows[0]?.figures ?? []).map((f) => f.label);
  if (rows.length === 0) return null;
  return (
    <section class="card panel" aria-labelledby="published-title">
      <h2 id="published-title">
        Published: {reasonOf(e.metric)}, in {plain(e.unit)}
      </h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label="Published table">
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">Case</th>
              {labels.map((l) => (
                <th key={l} scope="col" class="number">
                  {plain(l)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((r) => (
              <tr key={r.case}>
                <th scope="row">{plain(r.case)}</th>
                {(r.figures ?? []).map((f) => (
                  <td key={f.label} class="number">
                    {figure(f.value)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="quiet">{plain(e.source)}</p>
    </section>
  );
}

const mostCompared = 5;

/** The latest finished runs side by side. */
function Comparison({ api, runs, unit }: { api: Api; runs: readonly Run[]; unit: string }) {
  const ids = runs
    .filter((r) => r.state === "finished")
    .slice(0, mostCompared)
    .map((r) => r.id);
  const [full, setFull] = useState<readonly Run[]>([]);
  // The ids name the runs, which do not change once they are finished
  useEffect(() => {
    const stop = new AbortController();
    Promise.all(ids.map((id) => api.get<Run>(runResource(id), {}, stop.signal)))
      .then(setFull)
      .catch(() => {}); // the list of runs tells what is wrong
    return () => stop.abort();
  }, [api, ids.join(" ")]);
  const rows = compareRuns(full);
  if (full.length < 2) return null;
  return (
    <section class="card panel" aria-labelledby="compared-title">
      <h2 id="compared-title">Runs side by side: medians in {plain(unit)}</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label="Medians of the latest runs">
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">Case</th>
              {full.map((r) => (
                <th key={r.id} scope="col" class="number">
                  {dateTime(Date.parse(r.started))}
                  {r.quick && " (quick)"}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.name}>
                <th scope="row">{plain(row.name)}</th>
                {row.medians.map((m, i) => (
                  <td key={full[i]?.id} class="number">
                    {m === undefined ? "–" : figure(m)}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}
