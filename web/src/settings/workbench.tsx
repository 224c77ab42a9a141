import type { ComponentChildren } from "preact";
import { useCallback, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import { dateTime, plain } from "../format";
import { useGuard } from "../shell/guard";
import { wordsOf } from "../use-poll";
import {
  type Applied,
  type Changes,
  type Check,
  type Config,
  type ConfigProblem,
  checkConfig,
  readVersion,
  type Version,
} from "./config";
import { Difference } from "./difference";
import { Editor } from "./editor";
import "./settings.css";
import { reasonOf } from "../language/said";
import { type Judgement as Judged, useCheck } from "./use-check";

type Judgement = Judged<Check>;

interface Done {
  changes: Changes;
}

interface WorkbenchProps {
  api: Api;
  config: Config;
  /** Writes and applies a text that was made from a version. */
  apply(text: string, version: string): Promise<Applied>;
  /** What applying is called: before, while and after it. */
  words: { act: string; busy: string; done: string };
  /** What stands beside the difference. */
  beside?: ComponentChildren;
  onChanged(): Promise<void>;
}

/** A configuration: its text, judged as it is typed, what a change does, and what stood there before. */
export function Workbench(props: WorkbenchProps) {
  const { api, config, apply, words, beside, onChanged } = props;
  const [draft, setDraft] = useState<string>();
  const [reviewing, setReviewing] = useState(false);
  const [done, setDone] = useState<Done>();
  const text = draft ?? config.text;
  const isChanged = text !== config.text;
  const check = useCallback((draft: string) => checkConfig(api, draft), [api]);
  const judgement = useCheck(check, isChanged ? text : undefined);
  useGuard(isChanged, "The changed configuration is not applied. Leave it?");
  const problems = judgement?.is === "judged" ? (judgement.check.problems ?? []) : [];

  const bringBack = async (version: string) => {
    setDraft((await readVersion(api, version)).text);
    setReviewing(true);
    setDone(undefined);
  };
  const finish = async (changes: Changes) => {
    await onChanged();
    setDraft(undefined);
    setReviewing(false);
    setDone({ changes });
  };

  return (
    <>
      <Standing config={config} done={done} words={words.done} />
      {reviewing && isChanged ? (
        <Review
          config={config}
          text={text}
          judgement={judgement}
          apply={apply}
          words={words}
          beside={beside}
          onBack={() => setReviewing(false)}
          onConflict={onChanged}
          onApplied={finish}
        />
      ) : (
        <section class="card panel" aria-labelledby="config-title">
          <div class="panel-head">
            <h2 id="config-title" class="file-name">
              {plain(config.file)}
            </h2>
            <Verdict judgement={judgement} />
            <div class="actions">
              {isChanged && (
                <button type="button" onClick={() => setDraft(undefined)}>
                  Discard changes
                </button>
              )}
              <button
                type="button"
                class="primary"
                disabled={!isChanged || judgement?.is !== "judged" || problems.length > 0}
                onClick={() => setReviewing(true)}
              >
                Review changes
              </button>
            </div>
          </div>
          <Editor
            label="Configuration"
            text={text}
            problems={problems}
            onText={(next) => {
              setDraft(next);
              setDone(undefined);
            }}
          />
        </section>
      )}
      <History config={config} onBringBack={bringBack} />
    </>
  );
}

/** How the text stands to what runs, and what the last change did. */
function Standing(props: { config: Config; done: Done | undefined; words: string }) {
  const { config, done, words } = props;
  const restart = config.restart ?? [];
  return (
    <>
      <p role="status" aria-label="Last change" class="standing">
        {done && (
          <>
            <strong>{words}</strong> {together(done.changes.words)}
          </>
        )}
      </p>
      {!config.applied && (
        <p class="notice is-warn">
          The file was changed by hand, and the node does not run by it yet. Apply it here, or start
          the node again.
        </p>
      )}
      {restart.length > 0 && (
        <p class="notice is-warn">
          Changes of {restart.map(plain).join(", ")} hold after the next start of the node.
        </p>
      )}
    </>
  );
}

function Verdict({ judgement }: { judgement: Judgement | undefined }) {
  return (
    <p role="status" aria-label="Check" class={`check ${levelOf(judgement)}`}>
      {checkWords(judgement)}
    </p>
  );
}

/** What changes, one after the other in a line. */
const together = (words: readonly string[] | null | undefined) =>
  (words ?? []).map(plain).join(" · ");

function levelOf(judgement: Judgement | undefined): string {
  if (judgement?.is === "unknown") return "is-warn";
  if (judgement?.is !== "judged") return "";
  return (judgement.check.problems ?? []).length > 0 ? "is-bad" : "is-good";
}

function checkWords(judgement: Judgement | undefined): string {
  if (!judgement) return "";
  if (judgement.is === "asking") return "Checking…";
  if (judgement.is === "unknown") return `Not checked: ${judgement.why}`;
  const n = (judgement.check.problems ?? []).length;
  if (n > 0) return n === 1 ? "1 problem" : `${n} problems`;
  return together(judgement.check.changes.words) || "No problems";
}

interface ReviewProps extends Pick<WorkbenchProps, "apply" | "words" | "beside"> {
  config: Config;
  text: string;
  judgement: Judgement | undefined;
  onBack(): void;
  onConflict(): Promise<void>;
  onApplied(changes: Changes): Promise<void>;
}

/** The change before it holds: line by line, and in words what it does. */
function Review(props: ReviewProps) {
  const { config, text, judgement, onBack, onConflict, onApplied } = props;
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const problems = judgement?.is === "judged" ? (judgement.check.problems ?? []) : [];
  const applyNow = async () => {
    setBusy(true);
    try {
      await onApplied((await props.apply(text, config.version)).changes);
    } catch (err) {
      if (err instanceof Problem && err.status === 409) {
        await onConflict();
        setProblem(conflictWords);
      } else setProblem(wordsOf(err));
    }
    setBusy(false);
  };
  return (
    <section class="card panel" aria-labelledby="review-title">
      <div class="panel-head">
        <h2 id="review-title">What changes</h2>
        <Verdict judgement={judgement} />
        <div class="actions">
          <button type="button" disabled={busy} onClick={onBack}>
            Go on editing
          </button>
          <button
            type="button"
            class="primary"
            disabled={busy || judgement?.is !== "judged" || problems.length > 0}
            onClick={() => void applyNow()}
          >
            {busy ? props.words.busy : props.words.act}
          </button>
        </div>
      </div>
      <p role="alert" class="problem">
        {problem}
      </p>
      {props.beside}
      {problems.length > 0 && <ProblemLines problems={problems} />}
      <Difference before={config.text} after={text} label="Difference" />
    </section>
  );
}

const conflictWords =
  "Somebody else changed the configuration meanwhile. Below is now the difference between theirs and yours: " +
  "applying replaces theirs, so take over first what you want to keep of it.";

const ProblemLines = ({ problems }: { problems: readonly ConfigProblem[] }) => (
  <ul class="config-problems" aria-label="Problems of the text">
    {problems.map((p, i) => (
      <li key={i}>
        {p.line > 0 && <strong>Line {p.line}</strong>} {reasonOf(p.detail)}
      </li>
    ))}
  </ul>
);

interface HistoryProps {
  config: Config;
  onBringBack(version: string): Promise<void>;
}

function History({ config, onBringBack }: HistoryProps) {
  const [problem, setProblem] = useState("");
  const before = (config.history ?? []).filter((v) => v.version !== config.version);
  const bring = (v: Version) =>
    onBringBack(v.version).then(
      () => setProblem(""),
      (err) => setProblem(wordsOf(err)),
    );
  return (
    <section class="card panel" aria-labelledby="history-title">
      <h2 id="history-title">Earlier texts</h2>
      {problem && <p class="problem">{problem}</p>}
      {before.length === 0 ? (
        <p class="quiet">None yet. Each change keeps what stood there before.</p>
      ) : (
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Written</th>
              <th scope="col">By</th>
              <th scope="col">
                <span class="unseen">Actions</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {before.map((v) => (
              <tr key={`${v.version} ${v.time}`}>
                <td>
                  <time dateTime={v.time}>{dateTime(Date.parse(v.time))}</time>
                </td>
                <td>{plain(v.user) || "by hand"}</td>
                <td class="number">
                  <button
                    type="button"
                    aria-label="Compare and bring back"
                    onClick={() => void bring(v)}
                  >
                    Bring back
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
