import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { dateTime, dayMonth, exact, hourMinute, plain, plural } from "../format";
import type { MeterVersion } from "../generated/api";
import { bars, meaning, type ReadingState, readingStates, stateOf, ticks } from "./words";

interface Props {
  readings: readonly MeterVersion[];
  /** Milliseconds. */
  from: number;
  to: number;
  /** Of an interval, in milliseconds; 0 for a register. */
  interval: number;
  unit: string;
  /** The end of the interval that is chosen, "" for none. */
  chosen: string;
  onChoose(end: string): void;
}

const height = 240;
const margin = { left: 56, right: 8, top: 10, bottom: 22 };

/** The readings of a channel, one bar for each interval, in the colour of its state. */
export function ReadingCurve({ readings, from, to, interval, unit, chosen, onChoose }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const width = useBoxWidth(box);
  const { x, y, least, greatest } = scales(readings, from, to, width);
  const wide = interval || (to - from) / 200;
  const drawn = readings.map((r) => {
    const end = Date.parse(r.end);
    return { end: r.end, from: end - wide, to: end, value: r.value, state: stateOf(r) };
  });
  const at = drawn.findIndex((d) => d.end === chosen);
  const choose = (event: MouseEvent) => {
    const left = event.clientX - (event.currentTarget as Element).getBoundingClientRect().left;
    const hit = drawn.find((d) => x(d.from) <= left && left < x(d.to));
    if (hit) onChoose(hit.end);
  };
  const step = (event: KeyboardEvent) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key] ?? 0;
    const next = drawn[Math.max(0, Math.min(drawn.length - 1, at + by))];
    if (by === 0 || !next) return;
    event.preventDefault();
    onChoose(next.end);
  };
  const place = drawn[at];
  return (
    <div class="reading-curve" ref={box}>
      <svg
        width={width}
        height={height}
        role="img"
        tabindex={0}
        aria-label={`${plural(readings.length, "reading")} from ${dateTime(from)} to ${dateTime(to)}; the arrow keys choose an interval`}
        onClick={choose}
        onKeyDown={step}
      >
        <Axes x={x} y={y} from={from} to={to} width={width} values={ticks(least, greatest)} />
        {readingStates.map((state) => (
          <path
            key={state}
            class={`reading is-${state}`}
            d={bars(
              drawn.filter((d) => d.state === state),
              x,
              y,
            )}
          />
        ))}
        {place && (
          <rect
            class="chosen"
            x={x(place.from)}
            y={margin.top}
            width={Math.max(2, x(place.to) - x(place.from))}
            height={height - margin.top - margin.bottom}
          />
        )}
      </svg>
      <Legend states={drawn.map((d) => d.state)} unit={unit} />
    </div>
  );
}

function useBoxWidth(box: { current: HTMLElement | null }): number {
  const [width, setWidth] = useState(720);
  useLayoutEffect(() => {
    const target = box.current;
    if (!target) return;
    const observer = new ResizeObserver(() => setWidth(Math.max(240, target.clientWidth)));
    observer.observe(target);
    return () => observer.disconnect();
  }, [box]);
  return width;
}

type Scale = (value: number) => number;

/** Where moments and values are drawn; zero is always there. */
function scales(readings: readonly MeterVersion[], from: number, to: number, width: number) {
  const values = readings.map((r) => r.value);
  const least = Math.min(0, ...values);
  const greatest = Math.max(0, ...values) || 1;
  const x: Scale = (ms) =>
    margin.left + ((ms - from) / (to - from)) * (width - margin.left - margin.right);
  const y: Scale = (v) =>
    margin.top + ((greatest - v) / (greatest - least)) * (height - margin.top - margin.bottom);
  return { x, y, least, greatest };
}

interface AxesProps {
  x: Scale;
  y: Scale;
  from: number;
  to: number;
  width: number;
  /** That have a line. */
  values: readonly number[];
}

const Axes = ({ x, y, from, to, width, values }: AxesProps) => (
  <g>
    {values.map((v) => (
      <g key={v}>
        <line class="grid-line" x1={margin.left} x2={width - margin.right} y1={y(v)} y2={y(v)} />
        <text class="tick" x={margin.left - 6} y={y(v) + 4} text-anchor="end">
          {exact(v)}
        </text>
      </g>
    ))}
    {hours(from, to, width).map((t) => (
      <text
        key={t}
        class="tick"
        x={x(t)}
        y={height - 6}
        text-anchor={x(t) > width - 30 ? "end" : "middle"}
      >
        {label(t, to - from)}
      </text>
    ))}
  </g>
);

const day = 24 * 3600 * 1000;

/** The moments that are written below the curve: local midnights, or hours of one day. */
function hours(from: number, to: number, width: number): number[] {
  const most = Math.max(2, Math.floor(width / 90));
  const oneDay = to - from <= 1.1 * day;
  const every = oneDay
    ? Math.max(2, Math.ceil(24 / most))
    : Math.max(1, Math.ceil((to - from) / day / most));
  const out: number[] = [];
  const at = new Date(from);
  while (at.getTime() <= to) {
    out.push(at.getTime());
    if (oneDay) at.setHours(at.getHours() + every);
    else at.setDate(at.getDate() + every);
  }
  return out;
}

const label = (ms: number, width: number) => (width <= 1.1 * day ? hourMinute(ms) : dayMonth(ms));

function Legend({ states, unit }: { states: readonly ReadingState[]; unit: string }) {
  return (
    <ul class="reading-legend" aria-label="Readings by state">
      {readingStates
        .map((state) => ({ state, n: states.filter((s) => s === state).length }))
        .filter(({ n }) => n > 0)
        .map(({ state, n }) => (
          <li key={state}>
            <span class={`swatch is-${state}`} aria-hidden="true" /> {n} {meaning[state]}
          </li>
        ))}
      {unit && <li class="quiet">in {plain(unit)}</li>}
    </ul>
  );
}
