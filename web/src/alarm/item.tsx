import { useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { dateTime, plain, plural, span, unit } from "../format";
import type { Alarm } from "../generated/api";
import { coded } from "../language/codes";
import { said } from "../language/said";
import { agentAddress, pointAddress } from "../shell/place";
import { includes } from "../shell/role";
import { levelOf, stateWords, waits } from "./words";

interface Props {
  alarm: Alarm;
  api: Api;
  role: string;
  onDone(): void;
}

/** An alarm: what is wrong, since when, the value against the limit, and what can be done about it. */
export function AlarmItem({ alarm: a, api, role, onDone }: Props) {
  const [note, setNote] = useState("");
  const act = useAct();
  const at = a.node ? api.at(a.node) : api;
  const name = plain(a.point || `${a.agent} ${a.key}`);
  const send = async (verb: string, more: object = {}) => {
    if (await act.perform(() => at.send("POST", `alarms/${verb}`, { alarm: a.id, note, ...more })))
      setNote("");
    onDone();
  };
  const operator = includes(role, "operator");
  return (
    <li class={`is-${levelOf(a)} ${a.active ? "is-active" : "is-over"}`}>
      <p class="alarm-head">
        <span class="dot" aria-hidden="true" />
        <strong>{coded(plain(a.priority))}</strong>
        <span class="alarm-text">{plain(said(a.text))}</span>
      </p>
      <Facts alarm={a} now={api.now()} />
      {act.problem && (
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
      )}
      {operator && (
        <span class="alarm-actions">
          {waits(a) && (
            <button
              type="button"
              class="primary"
              aria-label={`Acknowledge ${name}`}
              disabled={act.busy}
              onClick={() => void send("acknowledge")}
            >
              Acknowledge
            </button>
          )}
          {a.state === "latched_acknowledged" && (
            <button
              type="button"
              aria-label={`Reset ${name}`}
              disabled={act.busy}
              onClick={() => void send("reset")}
            >
              Reset
            </button>
          )}
          {a.state === "shelved" && (
            <button
              type="button"
              aria-label={`Unshelve ${name}`}
              disabled={act.busy}
              onClick={() => void send("unshelve")}
            >
              Unshelve
            </button>
          )}
        </span>
      )}
      {operator && (
        <More
          {...{ name, note, role }}
          alarm={a}
          busy={act.busy}
          onNote={setNote}
          onSend={(verb, more) => void send(verb, more)}
        />
      )}
    </li>
  );
}

/** The point or the agent, and the node if it is another one. */
function Where({ alarm: a }: { alarm: Alarm }) {
  if (a.node)
    return (
      <>
        <a href={`/node/${encodeURIComponent(a.node)}`}>{plain(a.node)}</a>
        {!a.known && " (not known now)"}, {plain(a.description || a.point || a.agent)}
      </>
    );
  if (a.point) return <a href={pointAddress(a.point)}>{plain(a.description || a.point)}</a>;
  return <a href={a.agent === "node" ? "/alerts" : agentAddress(a.agent)}>{plain(a.agent)}</a>;
}

/** Where it is, since when, and the value against the limit. */
function Facts({ alarm: a, now }: { alarm: Alarm; now: number }) {
  const since = Date.parse(a.since);
  const words = unit(plain(a.unit));
  return (
    <p class="quiet alarm-facts">
      <Where alarm={a} />
      {a.point && a.description && ` (${plain(a.point)})`}
      {": "}
      {stateWords(a.state)} for{" "}
      <time dateTime={a.since} title={dateTime(since)}>
        {span(Math.max(0, now - since))}
      </time>
      {a.now && `, now ${plain(a.now)} ${words}`}
      {a.value && `, opened at ${plain(a.value)} ${words}`}
      {a.point && a.limit && `, alarm when it ${plain(said(a.limit))}`}
      {a.count > 1 && `, ${plural(a.count, "time")}`}
      {a.first && ", first in its group"}
      {a.acknowledged_by && `, acknowledged by ${plain(a.acknowledged_by)}`}
      {a.shelved_until && `, until ${dateTime(Date.parse(a.shelved_until))}`}
      {a.shelved_by && ` by ${plain(a.shelved_by)}`}
      {a.removed_by && `, by ${plain(a.removed_by)}`}
      {a.note && `, “${plain(a.note)}”`}.
      {a.unjudged && ` It is not known whether it lasts: ${plain(a.unjudged)}.`}
    </p>
  );
}

const shelves = [
  { words: "1 hour", seconds: 3600 },
  { words: "8 hours", seconds: 8 * 3600 },
  { words: "1 day", seconds: 24 * 3600 },
  { words: "7 days", seconds: 7 * 24 * 3600 },
];

interface MoreProps {
  alarm: Alarm;
  name: string;
  note: string;
  role: string;
  busy: boolean;
  onNote(text: string): void;
  onSend(verb: string, more?: object): void;
}

/** A note, and what is done less often. */
function More({ alarm: a, name, note, role, busy, onNote, onSend }: MoreProps) {
  return (
    <details class="alarm-more">
      <summary aria-label={`Note, shelve and service of ${name}`}>Note, shelve…</summary>
      <label>
        Note
        <input
          type="text"
          maxLength={1000}
          placeholder="For others, and for the history"
          value={note}
          onInput={(e) => onNote(e.currentTarget.value)}
        />
      </label>
      <span class="alarm-actions">
        {shelves.map(({ words, seconds }) => (
          <button
            key={seconds}
            type="button"
            aria-label={`Shelve ${words}: ${name}`}
            disabled={busy}
            onClick={() => onSend("shelve", { seconds })}
          >
            Shelve {words}
          </button>
        ))}
        {includes(role, "engineer") && (
          <button
            type="button"
            disabled={busy}
            onClick={() =>
              onSend(a.state === "out_of_service" ? "return-to-service" : "remove-from-service")
            }
          >
            {a.state === "out_of_service" ? "Return to service" : "Take out of service"}
          </button>
        )}
        {a.agent && <a href="/alerts">Ask its agent whether it lasts</a>}
      </span>
    </details>
  );
}
