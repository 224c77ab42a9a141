import { useCallback, useState } from "preact/hooks";
import { useAct } from "../control/use-act";
import { count, dateTime, plain, plural } from "../format";
import type { AlarmChange, AlarmCount, AlarmHistory, AlarmRates } from "../generated/api";
import { fixed } from "../language/number";
import { reasonOf } from "../language/said";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { eventWords } from "./words";

type Props = Pick<ScreenProps, "api" | "epoch">;

/** A part that asks only once somebody opens it. */
function Later({ title, children }: { title: string; children: preact.ComponentChildren }) {
  const [open, setOpen] = useState(false);
  return (
    <details class="card panel alarm-later" onToggle={(e) => setOpen(e.currentTarget.open)}>
      <summary>
        <h2>{title}</h2>
      </summary>
      {open && children}
    </details>
  );
}

/** What happened to alarms, and how many operators had to attend to. */
export function Past(props: Props) {
  return (
    <>
      <Later title="History">
        <History {...props} />
      </Later>
      <Later title="Rates of the last seven days">
        <Rates {...props} />
      </Later>
    </>
  );
}

const calm = 30_000;
const page = 100;

function History({ api, epoch }: Props) {
  const [older, setOlder] = useState<AlarmHistory>();
  const ask = useCallback(() => api.get<AlarmHistory>("alarms/history", { limit: page }), [api]);
  const { data, problem } = usePoll(ask, calm, epoch);
  const act = useAct();
  const next = (older ?? data)?.next ?? 0;
  const more = () =>
    act.perform(async () => {
      const query = { limit: page, before: next };
      const found = await api.get<AlarmHistory>("alarms/history", query);
      setOlder({ changes: [...(older?.changes ?? []), ...found.changes], next: found.next });
    });
  if (problem) return <p class="problem">{plain(problem)}</p>;
  if (!data) return <p class="asking">Asking for the history…</p>;
  if (data.changes.length === 0) return <p class="quiet">No alarm has changed yet.</p>;
  const seen = new Set(older?.changes.map((c) => c.number));
  const list = [...data.changes.filter((c) => !seen.has(c.number)), ...(older?.changes ?? [])];
  return (
    <>
      <ul class="alarm-history">
        {list.map((c) => (
          <Change key={c.number} change={c} />
        ))}
      </ul>
      {act.problem && <p class="problem">{plain(act.problem)}</p>}
      {next > 0 && (
        <button type="button" disabled={act.busy} onClick={() => void more()}>
          Older changes
        </button>
      )}
    </>
  );
}

function Change({ change: c }: { change: AlarmChange }) {
  return (
    <li>
      <time dateTime={c.time}>{dateTime(Date.parse(c.time))}</time>
      <span>
        <strong>{eventWords(c.event)}</strong>: {reasonOf(c.text || c.alarm)}
        {c.value && `, at ${plain(c.value)}`}
        {c.by && `, by ${plain(c.by)}`}
        {c.note && `, “${plain(c.note)}”`}
        <span class="quiet"> {plain(c.alarm)}</span>
      </span>
    </li>
  );
}

function Rates({ api, epoch }: Props) {
  const ask = useCallback(() => api.get<AlarmRates>("alarms/rates"), [api]);
  const { data: r, problem } = usePoll(ask, calm, epoch);
  if (problem) return <p class="problem">{plain(problem)}</p>;
  if (!r) return <p class="asking">Counting…</p>;
  return (
    <>
      <p>
        {plural(r.alarms, "alarm")}: {fixed(r.per_hour, 1)} an hour, at most {count(r.peak)} in ten
        minutes, {fixed(100 * r.flood, 1)} % of the time more than ten in ten minutes.
      </p>
      <p class="quiet">
        ISA-18.2: an operator can attend to about 6 alarms an hour, 12 at most, and to ten in ten
        minutes.
      </p>
      <Counted title="Most frequent" list={r.top} words={(c) => plural(c.times, "time")} />
      <Counted
        title="Chattering"
        list={r.chattering}
        words={(c) => `${plural(c.most, "time")} within a minute`}
      />
      <Counted
        title="Active for more than a day"
        list={r.standing}
        words={(c) => (c.since ? `since ${dateTime(Date.parse(c.since))}` : "")}
      />
    </>
  );
}

interface CountedProps {
  title: string;
  list: readonly AlarmCount[];
  words(c: AlarmCount): string;
}

function Counted({ title, list, words }: CountedProps) {
  if (list.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ol class="alarm-counts">
        {list.map((c) => (
          <li key={c.alarm}>
            {reasonOf(c.text || c.alarm)} <span class="quiet">{words(c)}</span>
          </li>
        ))}
      </ol>
    </>
  );
}
