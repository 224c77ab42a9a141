import { useState } from "preact/hooks";
import { count, dateTime, plain, plural, span } from "../format";
import type { Alarm, NodeAlarms } from "../generated/api";
import type { ScreenProps } from "../shell/screens";
import { Past } from "./history";
import { AlarmItem } from "./item";
import { People } from "./people";
import { Rules } from "./rules";
import { groupedByRule, isOpen, openWords } from "./words";
import "./alarms.css";
import { reasonOf } from "../language/said";

/** The alarms of rules and of agents: what needs an operator, what is kept quiet, and the rules. */
export function AlarmsScreen({ api, session, alarms, epoch }: ScreenProps) {
  const { data, problem, again } = alarms;
  const list = data?.alarms ?? [];
  const open = list.filter(isOpen);
  const quiet = list.filter((a) => !isOpen(a));
  const unknown = (data?.nodes ?? []).filter((n) => !n.known);
  const props = { api, role: session.role, onDone: again };
  return (
    <div class="screen alarms-screen">
      <h1>Alarms</h1>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {!data && !problem && <p class="asking">Asking for alarms…</p>}
      {data && (
        <section class="card panel" aria-labelledby="open-title">
          <h2 id="open-title">{title(data.open, unknown.length)}</h2>
          <Unknown list={unknown} />
          {data.flood && (
            <p class="alarm-flood is-bad">
              <span class="dot" aria-hidden="true" />
              {plural(data.recent, "new alarm")} in ten minutes, more than one person can attend to,
              for {span(Math.max(0, api.now() - Date.parse(data.flood)))}. They are grouped by rule.
            </p>
          )}
          {data.open === 0 && (
            <p class="quiet">
              An alarm opens when the condition of a rule holds, or when an agent or a device raises
              it. It stays here until it is over and somebody has acknowledged it.
            </p>
          )}
          {data.flood ? <Grouped list={open} {...props} /> : <List list={open} {...props} />}
          {data.all > list.length && (
            <p class="quiet">
              {count(data.all - list.length)} more, less urgent, are not shown. Acknowledge or
              shelve some of these first.
            </p>
          )}
        </section>
      )}
      {quiet.length > 0 && (
        <section class="card panel" aria-labelledby="quiet-title">
          <h2 id="quiet-title">{count(quiet.length)} shelved, suppressed or out of service</h2>
          <List list={quiet} {...props} />
        </section>
      )}
      <Past api={api} epoch={epoch} />
      <People api={api} role={session.role} epoch={epoch} />
      <Rules api={api} role={session.role} epoch={epoch} />
    </div>
  );
}

function title(open: number, unknown: number) {
  if (open > 0) return openWords(open);
  return unknown > 0 ? "No open alarms that are known" : "No open alarms";
}

/** The nodes whose alarms are not known: what is listed of them may be over, and others may have opened. */
function Unknown({ list }: { list: readonly NodeAlarms[] }) {
  if (list.length === 0) return null;
  return (
    <ul class="alarm-unknown">
      {list.map((n) => (
        <li key={n.node} class="is-warn">
          <span class="dot" aria-hidden="true" />
          The alarms of <a href={`/node/${encodeURIComponent(n.node)}`}>{plain(n.node)}</a> are not
          known {n.at ? `since ${dateTime(Date.parse(n.at))}` : "since this node started"}:{" "}
          {reasonOf(n.reason)}.
        </li>
      ))}
    </ul>
  );
}

interface ListProps {
  list: readonly Alarm[];
  api: ScreenProps["api"];
  role: string;
  onDone(): void;
}

/** How many alarms of a list are drawn at first: a flood must not slow down the page. */
const atFirst = 50;

function List({ list, ...rest }: ListProps) {
  const [most, setMost] = useState(atFirst);
  const more = list.length - most;
  return (
    <>
      <ul class="alarms">
        {list.slice(0, most).map((a) => (
          <AlarmItem key={`${a.node} ${a.id}`} alarm={a} {...rest} />
        ))}
      </ul>
      {more > 0 && (
        <button type="button" onClick={() => setMost(most + atFirst)}>
          Show {count(Math.min(more, atFirst))} more of {count(more)}
        </button>
      )}
    </>
  );
}

/** In a flood, alarms of one rule are one line that opens. */
const Grouped = ({ list, ...rest }: ListProps) =>
  groupedByRule(list).map(({ name, of }) => <Group key={name} name={name} list={of} {...rest} />);

function Group({ name, list, ...rest }: ListProps & { name: string }) {
  const [isOpen, setOpen] = useState(list.length === 1);
  return (
    <details
      class="alarm-group"
      open={isOpen}
      onToggle={(event) => setOpen(event.currentTarget.open)}
    >
      <summary>
        {plain(name)}: {plural(list.length, "alarm")}
      </summary>
      {isOpen && <List list={list} {...rest} />}
    </details>
  );
}
