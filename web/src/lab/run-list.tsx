import { dateTime, plain } from "../format";
import { coded } from "../language/codes";
import { reasonOf } from "../language/said";
import { go } from "../shell/place";
import type { Run } from "./calls";

/** The address of an experiment or a run. */
export const labAddress = (what: "experiment" | "run", name: string) =>
  `/lab?${new URLSearchParams({ [what]: name })}`;

const mostRuns = 100;

/** Runs with what came of them, the newest first. */
export function RunList({ runs, problem }: { runs: readonly Run[]; problem: string }) {
  return (
    <section class="card panel" aria-labelledby="runs-title">
      <h2 id="runs-title">Runs</h2>
      {problem && <p class="problem">{plain(problem)}</p>}
      {runs.length === 0 && !problem && <p class="quiet">Nothing was run yet.</p>}
      {runs.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section class="scroll-x" tabIndex={0} aria-label="List of runs">
          <table class="data-table">
            <thead>
              <tr>
                <th scope="col">Started</th>
                <th scope="col">Experiment</th>
                <th scope="col">State</th>
                <th scope="col">Verdict</th>
              </tr>
            </thead>
            <tbody>
              {runs.slice(0, mostRuns).map((r) => (
                <tr key={r.id}>
                  <th scope="row">
                    <a href={labAddress("run", r.id)}>{dateTime(Date.parse(r.started))}</a>
                  </th>
                  <td>
                    {reasonOf(r.title)}
                    {r.quick && <span class="quiet"> (quick)</span>}
                  </td>
                  <td>
                    <State run={r} />
                  </td>
                  <td>{reasonOf(r.error || r.verdict?.[0] || "")}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
    </section>
  );
}

/** The state of a run in a word. */
export function State({ run }: { run: Run }) {
  const level = run.state === "finished" ? "good" : run.state === "failed" ? "bad" : "wait";
  return (
    <span class={`lab-state is-${level}`}>
      <span class="dot" aria-hidden="true" /> {coded(run.state)}
    </span>
  );
}

/** Goes to a run. */
export const showRun = (id: string) => go(labAddress("run", id));
