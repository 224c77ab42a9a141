import { useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { KeptSchedule, ScheduleChanges } from "../generated/api";
import {
  type Draft,
  draftOf,
  type ExceptionDraft,
  emptyDraft,
  emptyException,
  scheduleOf,
  weekdays,
} from "./draft";
import { Dates, dayName, Rows, Text } from "./fields";
import { Changes } from "./strip";
import "../control/control.css";
import "./schedules.css";

interface Props {
  api: Api;
  calendars: readonly string[];
  /** The schedule that it changes; a new one if left out. */
  kept?: KeptSchedule;
  onDone(): void;
}

/** Writes a schedule: says first what it would command, then writes it. */
export function ScheduleForm({ api, calendars, kept, onDone }: Props) {
  const [draft, setDraft] = useState<Draft>(() => (kept ? draftOf(kept.schedule) : emptyDraft()));
  const [preview, setPreview] = useState<ScheduleChanges>();
  const act = useAct();
  const change = (part: Partial<Draft>) => {
    setDraft({ ...draft, ...part });
    setPreview(undefined);
  };
  const look = () =>
    act.perform(async () =>
      setPreview(
        await api.send<ScheduleChanges>("POST", "schedules/preview", {
          ...scheduleOf(draft),
          most: 15,
        }),
      ),
    );
  const write = async () => {
    const body = { ...scheduleOf(draft), expect: kept?.version ?? 0 };
    if (await act.perform(() => api.send("PUT", "schedules", body))) onDone();
  };
  return (
    <form
      class="control-form schedule-form"
      aria-label={kept ? `Change the schedule ${plain(draft.name)}` : "New schedule"}
      onSubmit={(e) => {
        e.preventDefault();
        void write();
      }}
    >
      <Head draft={draft} isNew={!kept} onChange={change} />
      <Days draft={draft} onChange={change} />
      <Exceptions
        list={draft.exceptions}
        calendars={calendars}
        onChange={(exceptions) => change({ exceptions })}
      />
      {preview && (
        <div class="control-wide" role="status" aria-label="What it would command">
          <Changes list={preview.changes} zone={draft.zone || "UTC"} />
        </div>
      )}
      {act.problem && (
        <p role="alert" class="problem control-wide">
          {plain(act.problem)}
        </p>
      )}
      <span class="control-wide schedule-actions">
        <button type="button" disabled={act.busy} onClick={() => void look()}>
          Preview
        </button>
        <button type="submit" class="primary" disabled={act.busy}>
          {kept ? "Change the schedule" : "Make the schedule"}
        </button>
      </span>
    </form>
  );
}

interface PartProps {
  draft: Draft;
  onChange(part: Partial<Draft>): void;
}

const zones = () => Intl.supportedValuesOf("timeZone");

function Head({ draft, isNew, onChange }: PartProps & { isNew: boolean }) {
  return (
    <>
      {isNew && (
        <Text
          label="Name"
          hint="office-hours"
          value={draft.name}
          onInput={(name) => onChange({ name })}
        />
      )}
      <Text
        label="Description"
        value={draft.description}
        onInput={(description) => onChange({ description })}
      />
      <Text
        label="Time zone"
        hint="Europe/Berlin"
        list="schedule-zones"
        value={draft.zone}
        onInput={(zone) => onChange({ zone })}
      />
      <datalist id="schedule-zones">
        {zones().map((z) => (
          <option key={z} value={z} />
        ))}
      </datalist>
      <label class="control-wide">
        Points, one in a line
        <textarea
          rows={3}
          placeholder="b1/ahu1/occupied"
          value={draft.points}
          onInput={(e) => onChange({ points: e.currentTarget.value })}
        />
      </label>
      <Text
        label="A day begins with"
        hint="Nothing is commanded"
        value={draft.base}
        onInput={(base) => onChange({ base })}
      />
      <Text
        label="Level, 9 to 16"
        type="number"
        hint="15"
        value={draft.level}
        onInput={(level) => onChange({ level })}
      />
      <Text
        label="In effect from"
        type="date"
        value={draft.from}
        onInput={(from) => onChange({ from })}
      />
      <Text label="until" type="date" value={draft.to} onInput={(to) => onChange({ to })} />
    </>
  );
}

function Days({ draft, onChange }: PartProps) {
  const { week } = draft;
  const copy = () => {
    const next = { ...week };
    for (const day of weekdays.slice(1, 5)) next[day] = week.monday.map((r) => ({ ...r }));
    onChange({ week: next });
  };
  return (
    <div class="control-wide schedule-days">
      {weekdays.map((day) => (
        <Rows
          key={day}
          of={dayName(day)}
          rows={week[day]}
          onChange={(rows) => onChange({ week: { ...week, [day]: rows } })}
        >
          {day === "monday" && week.monday.length > 0 && (
            <button type="button" onClick={copy}>
              Copy to Tuesday to Friday
            </button>
          )}
        </Rows>
      ))}
    </div>
  );
}

interface ExceptionsProps {
  list: readonly ExceptionDraft[];
  calendars: readonly string[];
  onChange(list: ExceptionDraft[]): void;
}

function Exceptions({ list, calendars, onChange }: ExceptionsProps) {
  const set = (i: number, part: Partial<ExceptionDraft>) =>
    onChange(list.map((x, k) => (k === i ? { ...x, ...part } : x)));
  return (
    <div class="control-wide schedule-exceptions">
      {list.map((x, i) => (
        <fieldset key={i}>
          <legend>Exception {i + 1}</legend>
          <Dates date={x} calendars={calendars} onChange={(part) => set(i, part)} />
          <Rows
            of={`Exception ${i + 1}, day`}
            rows={x.rows}
            onChange={(rows) => set(i, { rows })}
          />
          <button type="button" onClick={() => onChange(list.filter((_, k) => k !== i))}>
            Remove exception {i + 1}
          </button>
        </fieldset>
      ))}
      <button type="button" onClick={() => onChange([...list, emptyException()])}>
        Add an exception
      </button>
      {list.length > 1 && (
        <p class="quiet">The first exception that has the date decides the whole day.</p>
      )}
    </div>
  );
}
