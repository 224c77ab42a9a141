import { memo } from "preact/compat";
import { useState } from "preact/hooks";
import { clock, count, dateTime, plain } from "../format";
import type { Process, ProcessLine } from "../generated/api";
import { levelOf, levels, type Shown } from "./lines";
import type { PartProps } from "./page";
import { useLog } from "./use-log";

interface Props extends PartProps {
  process: Process | undefined;
}

/** What the agent prints, as it comes, the newest above. */
export function Log({ api, name, epoch, process }: Props) {
  const [level, setLevel] = useState("");
  const [search, setSearch] = useState("");
  const [typed, setTyped] = useState("");
  const { lines, link, redraw } = useLog(api, process ? name : "", { level, search }, epoch);
  if (!process) {
    return (
      <section class="card panel" aria-labelledby="log-title">
        <h2 id="log-title">Log</h2>
        <p class="quiet">It runs elsewhere, so its log is there.</p>
      </section>
    );
  }
  const hold = () => {
    lines.held = !lines.held;
    if (!lines.held) lines.missed = 0;
    redraw();
  };
  return (
    <section class="card panel" aria-labelledby="log-title">
      <div class="panel-head">
        <h2 id="log-title">Log</h2>
        <form
          class="agent-filter"
          onSubmit={(e) => {
            e.preventDefault();
            setSearch(typed.trim());
          }}
        >
          <select
            aria-label="Least level"
            value={level}
            onChange={(e) => setLevel(e.currentTarget.value)}
          >
            <option value="">All levels</option>
            {levels.slice(1).map((l) => (
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
          <button type="button" aria-pressed={lines.held} onClick={hold}>
            {lines.held ? "Go on" : "Pause"}
          </button>
        </form>
      </div>
      {link.state === "lost" && (
        <p class="problem" role="status">
          The log is halted, trying again. {plain(link.why)}
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="agent-log" tabIndex={0} aria-label="Lines of the log">
        <LineList lines={lines.list} />
        {lines.list.length === 0 && (
          <p class="empty">
            {level || search ? "No line has that." : "It has not printed anything."}
          </p>
        )}
      </section>
      <p class="quiet" role="status" aria-label="Lines that are not shown">
        {lines.missed > 0
          ? `${count(lines.missed)} more came while it was held; "Go on" shows what comes then.`
          : "The newest 500 lines; the node keeps more."}
      </p>
    </section>
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

const LogLine = memo(function LogLine({ line: l }: { line: ProcessLine }) {
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
