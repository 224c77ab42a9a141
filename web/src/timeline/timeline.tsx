import { useCallback, useState } from "preact/hooks";
import { plain } from "../format";
import type { Timeline, TimelineEvent } from "../generated/api";
import { reasonOf, said } from "../language/said";
import { pointAddress } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { byDay, timeOf } from "./days";
import "./timeline.css";

const calm = 5000;

const kinds = [
  ["", "Everything"],
  ["alarm", "Alarms"],
  ["command", "Commands"],
  ["outage", "Outages"],
  ["restart", "Restarts"],
  ["change", "Changes"],
  ["agent", "Agents"],
  ["access", "Accounts and refusals"],
] as const;

const spans = [
  ["-12h", "Last 12 hours"],
  ["-24h", "Last 24 hours"],
  ["-7d", "Last 7 days"],
  ["-30d", "Last 30 days"],
] as const;

/** What happened here and at the descendants, in sentences, the newest first. */
export function TimelineScreen({ api, epoch }: ScreenProps) {
  const [kind, setKind] = useState("");
  const [from, setFrom] = useState("-12h");
  const [text, setText] = useState("");
  const [nodes, setNodes] = useState(true);
  const [to, setTo] = useState("");
  const ask = useCallback(
    () =>
      api.get<Timeline>("timeline", {
        from,
        limit: 200,
        ...(kind && { kind }),
        ...(text && { text }),
        ...(nodes && { nodes: "true" }),
        ...(to && { to }),
      }),
    [api, kind, from, text, nodes, to],
  );
  const { data, problem } = usePoll(ask, calm, epoch);
  const choose = (set: (value: string) => void) => (value: string) => {
    set(value);
    setTo("");
  };
  return (
    <div class="screen timeline-screen">
      <h1>What happened</h1>
      <form class="timeline-filter" aria-label="Filter" onSubmit={(e) => e.preventDefault()}>
        <Choice label="Kind" value={kind} options={kinds} onChange={choose(setKind)} />
        <Choice label="Time" value={from} options={spans} onChange={choose(setFrom)} />
        <label>
          Search
          <input
            type="search"
            value={text}
            onInput={(e) => choose(setText)(e.currentTarget.value)}
          />
        </label>
        <label class="timeline-check">
          <input
            type="checkbox"
            checked={nodes}
            onChange={(e) => setNodes(e.currentTarget.checked)}
          />
          Child nodes, too
        </label>
      </form>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {data?.missing.map((m) => (
        <p key={m.node} class="quiet">
          {plain(m.node)} is not told: {reasonOf(m.message)}
        </p>
      ))}
      {!data && !problem && <p class="asking">Asking what happened…</p>}
      {data && data.events.length === 0 && <p class="quiet">Nothing in this time.</p>}
      {byDay(data?.events ?? []).map(({ day, events }) => (
        <section key={day} class="card panel" aria-label={day}>
          <h2>{day}</h2>
          <ol class="timeline">
            {events.map((e) => (
              <Line key={`${e.node} ${e.number}`} event={e} />
            ))}
          </ol>
        </section>
      ))}
      <p class="timeline-pages">
        {to && (
          <button type="button" onClick={() => setTo("")}>
            Newest
          </button>
        )}
        {data?.next && (
          <button type="button" onClick={() => setTo(data.next)}>
            Older
          </button>
        )}
      </p>
    </div>
  );
}

function Line({ event: e }: { event: TimelineEvent }) {
  return (
    <li class={`is-${e.level}`}>
      <time dateTime={e.time}>{timeOf(e.time)}</time>
      <span class="dot" aria-hidden="true" />
      <span class="timeline-text">
        <span class="unseen">{levelWords[e.level]}</span>
        {e.node && <strong>{plain(e.node)}: </strong>}
        {plain(said(e.text))}{" "}
        {e.point && !e.node && (
          <a href={pointAddress(e.subject)} aria-label={`Point ${plain(e.subject)}`}>
            point
          </a>
        )}
      </span>
    </li>
  );
}

const levelWords = { good: "well: ", info: "", warn: "attention: ", bad: "trouble: " } as const;

interface ChoiceProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange(value: string): void;
}

function Choice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <label>
      {label}
      <select value={value} onChange={(e) => onChange(e.currentTarget.value)}>
        {options.map(([key, words]) => (
          <option key={key} value={key}>
            {words}
          </option>
        ))}
      </select>
    </label>
  );
}
