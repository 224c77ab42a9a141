import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { type Api, address } from "../api";
import { Events, type Link } from "../events";
import { dateTime, plain, span } from "../format";
import { reasonOf } from "../language/said";
import { LatePlot } from "../late-plot";
import { inkStyle } from "../plot-axes";
import { usePoll, wordsOf } from "../use-poll";
import { type Progress, type Result, type Run, runResource } from "./calls";
import { type Chart, Course } from "./course";
import { casesOf, figure, ratioWords } from "./figures";
import { labAddress, State } from "./run-list";

interface Props {
  api: Api;
  id: string;
  mayRun: boolean;
  epoch: number;
}

/** One run: live charts while it goes on, its result when it has ended. */
export function RunPage({ api, id, mayRun, epoch }: Props) {
  const [ended, setEnded] = useState(0);
  const ask = useCallback(() => api.get<Run>(runResource(id)), [api, id]);
  const { data: run, problem } = usePoll(ask, 10_000, epoch + ended);
  const running = run?.state === "running";
  const { course, version, link } = useCourse(api, id, running, () => setEnded((n) => n + 1));
  if (!run) return <p class="asking">{plain(problem) || "Asking for the run…"}</p>;
  return (
    <div class="screen">
      <p>
        <a class="link" href={labAddress("experiment", run.experiment)}>
          ‹ {reasonOf(run.title)}
        </a>
      </p>
      <div class="panel-head">
        <h1>{reasonOf(run.title)}</h1>
        <RunActions api={api} run={run} mayRun={mayRun} onStopped={() => setEnded((n) => n + 1)} />
      </div>
      <p class="quiet">
        <State run={run} /> · started {dateTime(Date.parse(run.started))}
        {run.finished && `, took ${span(Date.parse(run.finished) - Date.parse(run.started))}`}
        {run.quick && " · quick: the figures only show that it works"}
      </p>
      {run.error && <p class="problem">{reasonOf(run.error)}</p>}
      {link?.state === "lost" && running && (
        <p class="problem" role="status">
          The course of the run does not arrive; trying again. {reasonOf(link.why)}
        </p>
      )}
      {running && <Going progress={course.now ?? run.progress} />}
      <Charts course={course} version={version} />
      {run.result && <Outcome run={run} result={run.result} />}
    </div>
  );
}

/** Follows a run's course while it goes on. */
function useCourse(api: Api, id: string, running: boolean, onEnd: () => void) {
  const course = useMemo(() => new Course(), [id]);
  const [version, setVersion] = useState(0);
  const [link, setLink] = useState<Link>();
  // Whoever follows a run asks for its result once it has ended
  useEffect(() => {
    if (!running) return;
    let frame = 0;
    const draw = () => {
      frame = 0;
      setVersion((n) => n + 1);
    };
    const progress = (data: unknown) => {
      course.add(data as Progress);
      frame ||= requestAnimationFrame(draw);
    };
    const end = () => {
      events.close();
      onEnd();
    };
    const target = address(runResource(id, "/stream"));
    const events = new Events(api, target, { progress, end }, setLink);
    events.open();
    return () => {
      cancelAnimationFrame(frame);
      events.close();
    };
  }, [api, id, running, course]);
  return { course, version, link };
}

interface ActionsProps {
  api: Api;
  run: Run;
  mayRun: boolean;
  onStopped(): void;
}

function RunActions({ api, run, mayRun, onStopped }: ActionsProps) {
  const [problem, setProblem] = useState("");
  const [stopping, setStopping] = useState(false);
  const stop = async () => {
    setStopping(true);
    try {
      await api.send("DELETE", runResource(run.id));
      onStopped();
    } catch (err) {
      setProblem(wordsOf(err));
    }
    setStopping(false);
  };
  return (
    <div class="actions">
      {problem && (
        <span class="problem" role="alert">
          {plain(problem)}
        </span>
      )}
      {run.state === "running" && mayRun && (
        <button type="button" class="lab-stop" disabled={stopping} onClick={() => void stop()}>
          {stopping ? "Stopping…" : "Stop the run"}
        </button>
      )}
      {run.state === "finished" && (
        <a
          class="button"
          href={address(runResource(run.id, "/report"))}
          target="_blank"
          rel="noopener"
        >
          Open the report
        </a>
      )}
    </div>
  );
}

function Going({ progress }: { progress: Progress | undefined }) {
  const done = progress?.done ?? 0;
  const words = [
    progress?.phase ?? "beginning",
    progress?.subject,
    progress?.case,
    progress?.repeat ? `repeat ${progress.repeat} of ${progress.repeats ?? "?"}` : "",
  ];
  return (
    <section class="card panel" aria-label="Progress">
      <progress aria-label="Share of the work" max={1} value={done}>
        {Math.round(done * 100)} %
      </progress>
      <p role="status">
        {plain(words.filter(Boolean).join(" · "))}{" "}
        <span class="quiet">{Math.round(done * 100)} %</span>
      </p>
      {progress?.message && <p class="quiet">{plain(progress.message)}</p>}
    </section>
  );
}

function Charts({ course, version }: { course: Course; version: number }) {
  const charts = course.charts();
  if (charts.length === 0) return null;
  const [from, to] = course.span();
  return (
    <div class="lab-charts">
      {charts.map((c) => (
        <CourseChart key={c.title} chart={c} version={version} from={from} to={to} />
      ))}
    </div>
  );
}

const noop = () => {};

interface ChartProps {
  chart: Chart;
  version: number;
  from: number;
  to: number;
}

function CourseChart({ chart, version, from, to }: ChartProps) {
  const shown = chart.curves.filter((c) => c.times.length > 0);
  return (
    <section class="card panel" aria-label={chart.title}>
      <h2>{chart.title}</h2>
      <div class="lab-chart" role="img" aria-label={`${chart.title} over time`}>
        <LatePlot
          curves={shown}
          version={version}
          from={from}
          to={to}
          onZoom={noop}
          onReset={noop}
          onCursor={noop}
        />
      </div>
      <ul class="legend">
        {shown.map((c) => (
          <li key={c.point}>
            <span class="swatch" style={{ "--ink": inkStyle(c.ink ?? 0) }} aria-hidden="true" />
            <span>{c.point}</span>
            <span class="number">
              {figure(c.values.at(-1) ?? Number.NaN)} <span class="unit">{c.unit}</span>
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Outcome({ run, result }: { run: Run; result: Result }) {
  const rows = casesOf(result.cases ?? []);
  const { name, unit, higher_is_better: higher } = result.metric;
  return (
    <section class="card panel" aria-labelledby="outcome-title">
      <h2 id="outcome-title">Verdict</h2>
      {(run.verdict ?? []).map((line) => (
        <p key={line} class="lab-verdict">
          {reasonOf(line)}
        </p>
      ))}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label="Figures of each case">
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">Case</th>
              <th scope="col" class="number">
                Published
              </th>
              <th scope="col" class="number">
                Peer
              </th>
              <th scope="col" class="number">
                Voltbus, median
              </th>
              <th scope="col" class="number">
                Least to most
              </th>
              <th scope="col">Ratio</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((r) => (
              <tr key={r.name}>
                <th scope="row">{plain(r.name)}</th>
                <Labelled figures={r.published} />
                <Labelled figures={r.peers} />
                <td class="number">
                  <strong>{r.own ? figure(r.own.median) : "–"}</strong>
                </td>
                <td class="number quiet">
                  {r.own ? `${figure(r.own.least)} to ${figure(r.own.most)}` : "–"}
                </td>
                <td>
                  {r.ratios.map((ratio) => (
                    <div key={ratio.against}>
                      <span class={ratio.times >= 0.95 ? "good" : "bad"}>
                        {ratioWords(ratio.times)}
                      </span>{" "}
                      <span class="quiet">
                        than {plain(ratio.against)}
                        {ratio.sameRun ? ", same run" : ""}
                      </span>
                    </div>
                  ))}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <p class="quiet">
        {reasonOf(name)} in {plain(unit)}; {higher ? "more" : "less"} is better.
      </p>
      {(result.skipped ?? []).map((s) => (
        <p key={s.peer} class="quiet">
          {plain(s.peer)} was left out: {reasonOf(s.reason)}
        </p>
      ))}
    </section>
  );
}

function Labelled({ figures }: { figures: readonly { label: string; value: number }[] }) {
  return (
    <td class="number">
      {figures.length === 0 && "–"}
      {figures.map((f) => (
        <div key={f.label}>
          {figure(f.value)} <span class="quiet lab-label">{plain(f.label)}</span>
        </div>
      ))}
    </td>
  );
}
