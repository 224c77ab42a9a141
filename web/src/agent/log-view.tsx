import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import type { Api } from "../api";
import type { Link } from "../events";
import { clock, count, dateTime, plain, plural } from "../format";
import { reasonOf } from "../language/said";
import { type Line, type Lines, levelOf, type Shown } from "./lines";
import { type Choice, useLog } from "./use-log";

interface Props {
  api: Api;
  /** The stream of its lines. */
  resource: string;
  epoch: number;
  /** The levels from which on lines can be chosen, besides all. */
  levels: readonly string[];
  /** What is said of a log without lines. */
  empty: string;
  /** What is said of lines that are not shown. */
  kept: string;
  /** What to do about a capability that is missing; it is asked again after that. */
  missing?(capability: string): string;
}

/** A log as it grows, the newest above, from a level on or with a text. */
export function LogView({ api, resource, epoch, levels, empty, kept, missing }: Props) {
  const [choice, setChoice] = useState<Choice>({ level: "", search: "" });
  const [attempt, setAttempt] = useState(0);
  const { lines, link, redraw } = useLog(api, resource, choice, epoch + attempt);
  const hold = () => {
    lines.held = !lines.held;
    if (!lines.held) lines.missed = 0;
    redraw();
  };
  const isChosen = choice.level !== "" || choice.search !== "";
  return (
    <section class="card panel" aria-labelledby="log-title">
      <div class="panel-head">
        <h2 id="log-title">Log</h2>
        {link.state !== "refused" && (
          <Filter
            levels={levels}
            choice={choice}
            onChoose={setChoice}
            isHeld={lines.held}
            onHold={hold}
          />
        )}
      </div>
      <Halt link={link} missing={missing} onAgain={() => setAttempt((n) => n + 1)} />
      {link.state !== "refused" && (
        <>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
          <section class="agent-log" tabIndex={0} aria-label="Lines of the log">
            <LineList lines={lines.list} />
            {lines.list.length === 0 && link.state === "live" && (
              <p class="empty">{isChosen ? "No line has that." : empty}</p>
            )}
          </section>
          <p class="quiet" role="status" aria-label="Lines that are not shown">
            {notShown(lines, kept)}
          </p>
        </>
      )}
    </section>
  );
}

function notShown({ missed, lost }: Lines, kept: string): string {
  if (missed > 0)
    return `${count(missed)} more came while it was held; "Go on" shows what comes then.`;
  return lost > 0 ? `${plural(lost, "line")} came faster than could be sent. ${kept}` : kept;
}

interface HaltProps {
  link: Link;
  missing: Props["missing"];
  onAgain(): void;
}

/** Why a stream of another node does not come, and what to do. */
export function Halt({ link, missing, onAgain }: HaltProps) {
  if (link.state === "lost") {
    return (
      <p class="problem" role="status">
        It is halted, trying again. {reasonOf(link.why)}
      </p>
    );
  }
  if (link.state !== "refused") return null;
  return (
    <div class="halt" role="status">
      <p class="problem">{reasonOf(link.why)}</p>
      {missing && link.missing && <p>{missing(link.missing)}</p>}
      <p class="actions">
        <button type="button" onClick={onAgain}>
          Ask again
        </button>
      </p>
    </div>
  );
}

interface FilterProps {
  levels: readonly string[];
  choice: Choice;
  onChoose(choice: Choice): void;
  isHeld: boolean;
  onHold(): void;
}

function Filter({ levels, choice, onChoose, isHeld, onHold }: FilterProps) {
  const [typed, setTyped] = useState(choice.search);
  return (
    <form
      class="agent-filter"
      onSubmit={(e) => {
        e.preventDefault();
        onChoose({ ...choice, search: typed.trim() });
      }}
    >
      <select
        aria-label="Least level"
        value={choice.level}
        onChange={(e) => onChoose({ ...choice, level: e.currentTarget.value })}
      >
        <option value="">All levels</option>
        {levels.map((l) => (
          <option key={l} value={l}>
            {l} and above
          </option>
        ))}
      </select>
      <input
        type="search"
        aria-label="Search the log"
        placeholder="Text in the log"
        maxLength={200}
        value={typed}
        onInput={(e) => setTyped(e.currentTarget.value)}
      />
      <button type="submit">Search</button>
      <button type="button" aria-pressed={isHeld} onClick={onHold}>
        {isHeld ? "Go on" : "Pause"}
      </button>
    </form>
  );
}

/** Lines of a log, each as text. */
export const LineList = ({ lines }: { lines: readonly Shown[] }) => (
  <ul class="log-lines">
    {lines.map((l) => (
      <LogLine key={l.id} line={l} />
    ))}
  </ul>
);

const LogLine = memo(function LogLine({ line: l }: { line: Line }) {
  const at = Date.parse(l.time);
  const extra = l.extra && Object.keys(l.extra).length > 0 ? JSON.stringify(l.extra) : "";
  return (
    <li class={`is-${levelOf(l)}`}>
      <time class="quiet number" dateTime={l.time} title={dateTime(at)}>
        {clock(at)}
      </time>
      <span class="log-level">{plain(l.stream === "node" ? "node" : l.level)}</span>
      <span class="log-text">
        {l.logger && <span class="quiet">{plain(l.logger)} </span>}
        {plain(l.message)}
        {extra && <span class="quiet"> {plain(extra)}</span>}
      </span>
    </li>
  );
});
