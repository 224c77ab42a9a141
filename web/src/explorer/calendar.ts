import type { Span } from "../span";
import { addDays, addMonths, type Day, daysIn, instantOf, localOf, weekdayOf } from "../zone";

/** The weeks that show a month, from Monday on; days of other months fill the first and the last. */
export function weeksOf(month: Day): Day[][] {
  const first = { ...month, day: 1 };
  const lead = weekdayOf(first);
  const weeks = Math.ceil((lead + daysIn(month)) / 7);
  return Array.from({ length: weeks }, (_, w) =>
    Array.from({ length: 7 }, (_, d) => addDays(first, w * 7 + d - lead)),
  );
}

/** The day to which a key leads from a day; undefined if it leads nowhere. */
export function dayAfterKey(day: Day, key: string, shift: boolean): Day | undefined {
  switch (key) {
    case "ArrowLeft":
      return addDays(day, -1);
    case "ArrowRight":
      return addDays(day, 1);
    case "ArrowUp":
      return addDays(day, -7);
    case "ArrowDown":
      return addDays(day, 7);
    case "Home":
      return addDays(day, -weekdayOf(day));
    case "End":
      return addDays(day, 6 - weekdayOf(day));
    case "PageUp":
      return addMonths(day, shift ? -12 : -1);
    case "PageDown":
      return addMonths(day, shift ? 12 : 1);
  }
  return undefined;
}

/** Whole days, from the begin of the first to the end of the last, whichever was named first. */
export function daysSpan(a: Day, b: Day, zone: string): Span {
  const [first, last] = instantOf(a, zone) <= instantOf(b, zone) ? [a, b] : [b, a];
  return [instantOf(first, zone), instantOf(addDays(last, 1), zone)];
}

/** Stretches of the calendar that people ask for, by their names. */
export function presets(now: number, zone: string): { label: string; span: Span }[] {
  const { year, month, day } = localOf(now, zone);
  const today = { year, month, day };
  const monday = addDays(today, -weekdayOf(today));
  const first = { year, month, day: 1 };
  const before = addMonths(first, -1);
  const quarter = { year, month: month - ((month - 1) % 3), day: 1 };
  const span = (from: Day, to: Day): Span => [instantOf(from, zone), instantOf(to, zone)];
  return [
    { label: "Today", span: span(today, addDays(today, 1)) },
    { label: "Yesterday", span: span(addDays(today, -1), today) },
    { label: "This week", span: span(monday, addDays(monday, 7)) },
    { label: "Last week", span: span(addDays(monday, -7), monday) },
    { label: "This month", span: span(first, addMonths(first, 1)) },
    { label: "Last month", span: span(before, first) },
    { label: "This quarter", span: span(quarter, addMonths(quarter, 3)) },
    {
      label: "This year",
      span: span({ year, month: 1, day: 1 }, { year: year + 1, month: 1, day: 1 }),
    },
    {
      label: "Last year",
      span: span({ year: year - 1, month: 1, day: 1 }, { year, month: 1, day: 1 }),
    },
  ];
}
