import type { ComponentChildren } from "preact";
import { dateLocale } from "../format";
import { type DateDraft, type DateKind, type Row, type Weekday, weekdays } from "./draft";

export const dayName = (day: Weekday) => day.charAt(0).toUpperCase() + day.slice(1);

interface TextProps {
  label: string;
  value: string;
  type?: "text" | "date" | "time" | "number";
  hint?: string;
  list?: string;
  onInput(text: string): void;
}

/** A field with its label. */
export function Text({ label, value, type = "text", hint = "", list, onInput }: TextProps) {
  return (
    <label>
      {label}
      <input
        type={type}
        placeholder={hint}
        value={value}
        list={list}
        onInput={(e) => onInput(e.currentTarget.value)}
      />
    </label>
  );
}

interface SelectProps {
  label: string;
  value: string;
  options: readonly (readonly [string, string])[];
  onChange(value: string): void;
}

/** A choice with its label. */
export function Select({ label, value, options, onChange }: SelectProps) {
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

interface RowsProps {
  of: string;
  rows: readonly Row[];
  onChange(rows: Row[]): void;
  children?: ComponentChildren;
}

/** The times of a day, each with its value. */
export function Rows({ of, rows, onChange, children }: RowsProps) {
  const set = (i: number, part: Partial<Row>) =>
    onChange(rows.map((r, k) => (k === i ? { ...r, ...part } : r)));
  return (
    <fieldset class="schedule-day">
      <legend>{of}</legend>
      {rows.map((r, i) => (
        <span key={i} class="schedule-row">
          <input
            type="time"
            aria-label={`${of}: time ${i + 1}`}
            value={r.at}
            onInput={(e) => set(i, { at: e.currentTarget.value })}
          />
          <input
            type="text"
            aria-label={`${of}: value ${i + 1}`}
            placeholder="true"
            value={r.value}
            onInput={(e) => set(i, { value: e.currentTarget.value })}
          />
          <button
            type="button"
            aria-label={`${of}: remove time ${i + 1}`}
            onClick={() => onChange(rows.filter((_, k) => k !== i))}
          >
            ×
          </button>
        </span>
      ))}
      <button
        type="button"
        aria-label={`${of}: add a time`}
        onClick={() => onChange([...rows, { at: "", value: "" }])}
      >
        Add a time
      </button>
      {children}
    </fieldset>
  );
}

const kinds: readonly (readonly [DateKind, string])[] = [
  ["date", "One date"],
  ["range", "From one date to another"],
  ["yearly", "A date each year"],
  ["weekday", "A weekday"],
  ["easter", "Days after Easter Sunday"],
];

const weeks = [
  ["0", "each"],
  ["1", "first"],
  ["2", "second"],
  ["3", "third"],
  ["4", "fourth"],
  ["5", "fifth"],
  ["-1", "last"],
] as const;

const months = [
  ["0", "any month"],
  ...Array.from({ length: 12 }, (_, i): [string, string] => [
    String(i + 1),
    new Date(Date.UTC(2026, i)).toLocaleString(dateLocale, { month: "long", timeZone: "UTC" }),
  ]),
] as const;

interface DatesProps {
  date: DateDraft;
  /** The calendars that can be chosen; none in a calendar. */
  calendars?: readonly string[];
  onChange(part: Partial<DateDraft>): void;
}

/** Chooses dates, in one of six ways. */
export function Dates({ date: d, calendars = [], onChange }: DatesProps) {
  const options = calendars.length === 0 ? kinds : [...kinds, ["calendar", "A calendar"] as const];
  return (
    <>
      <Select
        label="When"
        value={d.kind}
        options={options}
        onChange={(kind) =>
          onChange({ kind: kind as DateKind, calendar: d.calendar || (calendars[0] ?? "") })
        }
      />
      <Which date={d} calendars={calendars} onChange={onChange} />
      <Text
        label="Name"
        hint="Such as Holidays"
        value={d.name}
        onInput={(name) => onChange({ name })}
      />
    </>
  );
}

/** Which dates, in the way that was chosen. */
function Which({ date: d, calendars = [], onChange }: DatesProps) {
  const first = (text: string) => onChange({ first: text });
  switch (d.kind) {
    case "date":
      return <Text label="Date" type="date" value={d.first} onInput={first} />;
    case "range":
      return (
        <>
          <Text label="First day" type="date" value={d.first} onInput={first} />
          <Text
            label="Last day"
            type="date"
            value={d.last}
            onInput={(last) => onChange({ last })}
          />
        </>
      );
    case "yearly":
      return <Text label="Month and day" hint="12-25" value={d.first} onInput={first} />;
    case "easter":
      return (
        <Text
          label="Days after Easter"
          type="number"
          hint="1"
          value={d.days}
          onInput={(days) => onChange({ days })}
        />
      );
    case "weekday":
      return <DayOfMonth date={d} onChange={onChange} />;
    default:
      return (
        <Select
          label="Calendar"
          value={d.calendar}
          options={calendars.map((c) => [c, c] as const)}
          onChange={(calendar) => onChange({ calendar })}
        />
      );
  }
}

function DayOfMonth({ date: d, onChange }: DatesProps) {
  return (
    <>
      <Select
        label="Which"
        value={d.week}
        options={weeks}
        onChange={(week) => onChange({ week })}
      />
      <Select
        label="Day"
        value={d.weekday}
        options={weekdays.map((w) => [w, dayName(w)] as const)}
        onChange={(weekday) => onChange({ weekday: weekday as Weekday })}
      />
      <Select
        label="In"
        value={d.month}
        options={months}
        onChange={(month) => onChange({ month })}
      />
    </>
  );
}
