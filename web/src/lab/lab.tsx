import { useCallback } from "preact/hooks";
import { dateTime, plain } from "../format";
import { coded } from "../language/codes";
import { reasonOf } from "../language/said";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { askExperiments, askRuns, type Experiment, type Run } from "./calls";
import { ExperimentPage } from "./experiment";
import { RunPage } from "./run";
import { labAddress, RunList } from "./run-list";
import "../style/data-table.css";
import "./lab.css";

/** The lab: experiments with published claims, their runs, and how one goes now. */
export function LabScreen({ api, session, place, epoch }: ScreenProps) {
  const ask = useCallback(() => askExperiments(api), [api]);
  const look = useCallback(() => askRuns(api), [api]);
  const experiments = usePoll(ask, 60_000, epoch);
  const runs = usePoll(look, 5000, epoch);
  const params = new URLSearchParams(place.search);
  const run = params.get("run");
  const mayRun = includes(session.role, "engineer");
  const chosen = experiments.data?.find((e) => e.name === params.get("experiment"));

  if (run) return <RunPage key={run} api={api} id={run} mayRun={mayRun} epoch={epoch} />;
  if (!experiments.data)
    return <p class="asking">{plain(experiments.problem) || "Asking for the experiments…"}</p>;
  if (chosen) {
    const mine = (runs.data ?? []).filter((r) => r.experiment === chosen.name);
    return <ExperimentPage api={api} experiment={chosen} runs={mine} mayRun={mayRun} />;
  }
  return (
    <div class="screen">
      <h1>Lab</h1>
      <p class="quiet lab-intro">
        Each experiment repeats a published table on this machine and shows both figures. It needs
        the machine for itself: what else runs here makes the figures worse, not better.
      </p>
      <ExperimentList experiments={experiments.data} runs={runs.data ?? []} />
      <RunList runs={runs.data ?? []} problem={runs.problem} />
    </div>
  );
}

function ExperimentList({
  experiments,
  runs,
}: {
  experiments: readonly Experiment[];
  runs: readonly Run[];
}) {
  return (
    <section aria-label="Experiments">
      <ul class="experiments">
        {experiments.map((e) => {
          const last = runs.find((r) => r.experiment === e.name && r.state === "finished");
          return (
            <li key={e.name} class="card panel">
              <h2>
                <a href={labAddress("experiment", e.name)}>{reasonOf(e.title)}</a>
              </h2>
              <p>{reasonOf(e.question)}</p>
              <p class="quiet">{plain(e.source) || "Without a published table."}</p>
              {last && (
                <p class="lab-verdict">
                  <span class="quiet">{dateTime(Date.parse(last.started))}:</span>{" "}
                  <a href={labAddress("run", last.id)}>
                    {last.verdict?.[0] ? reasonOf(last.verdict[0]) : coded("finished")}
                  </a>
                </p>
              )}
            </li>
          );
        })}
      </ul>
      {experiments.length === 0 && <p class="empty">This program has no experiments.</p>}
    </section>
  );
}
