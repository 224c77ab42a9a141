import { useEffect, useRef, useState } from "preact/hooks";
import { dateLocale } from "../format";
import type { Span } from "../span";
import { addMonths, type Day, dayNumber, isoDay, localOf } from "../zone";
import { dayAfterKey, daysSpan, weeksOf } from "./calendar";

interface Props {
  zone: string;
  now: number;
  /** What is written, as far as it is a time. */
  span: readonly [number | undefined, number | undefined];
  onDays(span: Span): void;
}

const months = Array.from({ length: 12 }, (_, i) => i + 1);
const inWords = ({ year, month, day }: Day, parts: Intl.DateTimeFormatOptions) =>
  new Date(Date.UTC(year, month - 1, day)).toLocaleDateString(dateLocale, {
    ...parts,
    timeZone: "UTC",
  });

const monthName = (month: Day) => inWords(month, { month: "long" });

/** The days of a week from Monday on, short and long. */
const weekdays = Array.from({ length: 7 }, (_, i) => {
  const day = { year: 2024, month: 1, day: 1 + i };
  return {
    short: inWords(day, { weekday: "short" }).slice(0, 2),
    long: inWords(day, { weekday: "long" }),
  };
});

/** A month, in which the first and the last day are chosen by mouse, finger or keys. */
export function Month({ zone, now, span, onDays }: Props) {
  const today = localOf(now, zone);
  const [begin, end] = span;
  // The last instant of the span, so that midnight does not count as another day
  const last = end === undefined ? undefined : localOf(end - 1, zone);
  const first = begin === undefined ? undefined : localOf(begin, zone);
  const [at, setAt] = useState<Day>(last && dayNumber(last) <= dayNumber(today) ? last : today);
  const [anchor, setAnchor] = useState<Day>();
  const grid = useRef<HTMLTableElement>(null);
  const moved = useRef(false);
  useEffect(() => {
    if (moved.current) grid.current?.querySelector<HTMLElement>("[tabindex='0']")?.focus();
    moved.current = false;
  }, [at]);

  const pick = (day: Day) => {
    setAt(day);
    onDays(daysSpan(anchor ?? day, day, zone));
    setAnchor(anchor ? undefined : day);
  };
  // Whoever types fast is ahead of the focus, which moves when the page is drawn
  const ahead = useRef(at);
  ahead.current = at;
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const next = dayAfterKey(ahead.current, e.key, e.shiftKey);
    const picks = e.key === "Enter" || e.key === " ";
    if (!next && !picks) return;
    e.preventDefault();
    moved.current = true;
    if (next) {
      ahead.current = next;
      setAt(next);
    } else pick(ahead.current);
  };
  return (
    <div class="month">
      <Head at={at} onAt={setAt} />
      <table ref={grid} aria-label={inWords(at, { month: "long", year: "numeric" })}>
        <thead>
          <tr>
            {weekdays.map((d) => (
              <th key={d.long} scope="col" abbr={d.long}>
                {d.short}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {weeksOf(at).map((week) => (
            <tr key={isoDay(week[0] ?? at)}>
              {week.map((day) => (
                <Cell
                  key={isoDay(day)}
                  day={day}
                  month={at.month}
                  isAt={dayNumber(day) === dayNumber(at)}
                  isToday={dayNumber(day) === dayNumber(today)}
                  isChosen={isWithin(day, first, last)}
                  onPick={pick}
                  onKeyDown={onKeyDown}
                />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet" role="status">
        {anchor
          ? `From ${isoDay(anchor)}: now choose the last day.`
          : "Choose the first day, then the last. Arrows move, Page Up and Page Down change the month."}
      </p>
    </div>
  );
}

const isWithin = (day: Day, first: Day | undefined, last: Day | undefined) =>
  first !== undefined &&
  last !== undefined &&
  dayNumber(first) <= dayNumber(day) &&
  dayNumber(day) <= dayNumber(last);

function Head({ at, onAt }: { at: Day; onAt(day: Day): void }) {
  return (
    <div class="month-head">
      <button
        type="button"
        class="sign"
        aria-label="Month before"
        onClick={() => onAt(addMonths(at, -1))}
      >
        ‹
      </button>
      <select
        aria-label="Month"
        value={at.month}
        onChange={(e) => onAt(addMonths(at, Number(e.currentTarget.value) - at.month))}
      >
        {months.map((m) => (
          <option key={m} value={m}>
            {monthName({ year: at.year, month: m, day: 1 })}
          </option>
        ))}
      </select>
      <input
        type="number"
        aria-label="Year"
        min={1980}
        max={2200}
        value={at.year}
        onChange={(e) => {
          const year = Number(e.currentTarget.value);
          if (year >= 1980 && year <= 2200) onAt(addMonths(at, 12 * (year - at.year)));
        }}
      />
      <button
        type="button"
        class="sign"
        aria-label="Month after"
        onClick={() => onAt(addMonths(at, 1))}
      >
        ›
      </button>
    </div>
  );
}

interface CellProps {
  day: Day;
  month: number;
  isAt: boolean;
  isToday: boolean;
  isChosen: boolean;
  onPick(day: Day): void;
  onKeyDown(e: KeyboardEvent): void;
}

function Cell({ day, month, isAt, isToday, isChosen, onPick, onKeyDown }: CellProps) {
  const look = [
    day.month === month ? "" : "other",
    isToday ? "today" : "",
    isChosen ? "chosen" : "",
  ];
  return (
    <td>
      <button
        type="button"
        class={look.filter(Boolean).join(" ")}
        tabIndex={isAt ? 0 : -1}
        aria-pressed={isChosen}
        aria-label={inWords(day, { day: "numeric", month: "long", year: "numeric" })}
        {...(isToday ? { "aria-current": "date" as const } : {})}
        onClick={() => onPick(day)}
        onKeyDown={onKeyDown}
      >
        {day.day}
      </button>
    </td>
  );
}
