import { useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { KeptCalendar } from "../generated/api";
import { reasonOf } from "../language/said";
import { calendarOf, type DateDraft, dateOf, emptyDate } from "./draft";
import { Dates, Text } from "./fields";

interface ListProps {
  list: readonly KeptCalendar[];
  api: Api;
  engineer: boolean;
  onDone(): void;
}

/** The calendars that schedules share, and a form for one more. */
export function CalendarList({ list, api, engineer, onDone }: ListProps) {
  return (
    <section class="card panel" aria-labelledby="calendars-title">
      <h2 id="calendars-title">Calendars</h2>
      {list.length === 0 && (
        <p class="quiet">
          A calendar is a list of dates, such as public holidays, that exceptions of schedules name.
        </p>
      )}
      {list.map((c) => (
        <CalendarItem key={c.calendar.name} kept={c} {...{ api, engineer, onDone }} />
      ))}
      {engineer && (
        <details key={list.length} class="schedule-more">
          <summary>New calendar…</summary>
          <CalendarForm api={api} onDone={onDone} />
        </details>
      )}
    </section>
  );
}

interface ItemProps extends Omit<ListProps, "list"> {
  kept: KeptCalendar;
}

function CalendarItem({ kept, api, engineer, onDone }: ItemProps) {
  const act = useAct();
  const { calendar: c } = kept;
  const remove = async () => {
    const address = `calendars/${encodeURIComponent(c.name)}`;
    if (await act.perform(() => api.send("DELETE", address))) onDone();
  };
  return (
    <div class="schedule-calendar">
      <p>
        <strong>{plain(c.name)}</strong>{" "}
        {kept.next.length > 0
          ? `next ${kept.next
              .slice(0, 3)
              .map((d) => plain(`${d.date} ${d.name}`.trim()))
              .join(", ")}`
          : "no date within 400 days"}
      </p>
      {kept.wrong && <p class="problem">{reasonOf(kept.wrong)}</p>}
      {act.problem && <p class="problem">{plain(act.problem)}</p>}
      {engineer && (
        <details class="schedule-more">
          <summary aria-label={`Change or delete the calendar ${plain(c.name)}`}>Change…</summary>
          {kept.wrong === "" && (
            <CalendarForm key={kept.version} {...{ api, kept }} onDone={onDone} />
          )}
          <button type="button" disabled={act.busy} onClick={() => void remove()}>
            Delete the calendar {plain(c.name)}
          </button>
        </details>
      )}
    </div>
  );
}

interface FormProps {
  api: Api;
  kept?: KeptCalendar;
  onDone(): void;
}

function CalendarForm({ api, kept, onDone }: FormProps) {
  const [name, setName] = useState(kept?.calendar.name ?? "");
  const [dates, setDates] = useState<DateDraft[]>(() =>
    kept ? kept.calendar.dates.map(dateOf) : [emptyDate()],
  );
  const act = useAct();
  const set = (i: number, part: Partial<DateDraft>) =>
    setDates(dates.map((d, k) => (k === i ? { ...d, ...part } : d)));
  const write = async () => {
    const body = { ...calendarOf(name, dates), expect: kept?.version ?? 0 };
    if (await act.perform(() => api.send("PUT", "calendars", body))) onDone();
  };
  return (
    <form
      class="control-form schedule-form"
      aria-label={kept ? `Change the calendar ${plain(name)}` : "New calendar"}
      onSubmit={(e) => {
        e.preventDefault();
        void write();
      }}
    >
      {!kept && (
        <Text label="Name of the calendar" hint="holidays" value={name} onInput={setName} />
      )}
      <div class="control-wide schedule-exceptions">
        {dates.map((d, i) => (
          <fieldset key={i}>
            <legend>Date {i + 1}</legend>
            <Dates date={d} onChange={(part) => set(i, part)} />
            <button type="button" onClick={() => setDates(dates.filter((_, k) => k !== i))}>
              Remove date {i + 1}
            </button>
          </fieldset>
        ))}
        <button type="button" onClick={() => setDates([...dates, emptyDate()])}>
          Add a date
        </button>
      </div>
      {act.problem && (
        <p role="alert" class="problem control-wide">
          {plain(act.problem)}
        </p>
      )}
      <span class="control-wide schedule-actions">
        <button type="submit" class="primary" disabled={act.busy}>
          {kept ? "Change the calendar" : "Make the calendar"}
        </button>
      </span>
    </form>
  );
}
