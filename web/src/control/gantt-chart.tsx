import { useRef } from "preact/hooks";
import { plain, shortTime } from "../format";
import { useWidth } from "../use-width";
import { type Bar, type GanttRow, place, ticks } from "./gantt";
import { whoWords } from "./words";

interface Props {
  rows: readonly GanttRow[];
  span: readonly [number, number];
  now: number;
  me: string;
  /** The reservation that is chosen, "" for none. */
  chosen: string;
  /** The address that chooses a reservation. */
  addressOf(task: string): string;
}

const head = 26;
const narrow = 560;

/** Windows over time, a row for each path. Every window is a link that chooses its reservation. */
export function Gantt({ rows, span, now, me, chosen, addressOf }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const width = useWidth(box);
  const isNarrow = width < narrow;
  const left = isNarrow ? 0 : Math.min(280, Math.round(width * 0.27));
  const rowHeight = isNarrow ? 50 : 34;
  const height = head + rows.length * rowHeight + 4;
  const shared = { span, left, width: width - left, isNarrow };
  const today = now > span[0] && now < span[1];
  const x = left + place({ from: now, to: now }, span, width - left).x;
  return (
    <div ref={box} class="gantt-box">
      {/* biome-ignore lint/a11y/useSemanticElements: an svg is no fieldset */}
      <svg class="gantt" viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Schedule">
        <Axis {...shared} height={height} />
        {rows.map((row, i) => (
          <g key={row.path} transform={`translate(0 ${head + i * rowHeight})`}>
            <Row {...{ row, me, chosen, addressOf, ...shared }} height={rowHeight} />
          </g>
        ))}
        {today && <line class="gantt-now" x1={x} x2={x} y1={head - 6} y2={height} />}
      </svg>
    </div>
  );
}

interface Field {
  span: readonly [number, number];
  left: number;
  width: number;
  isNarrow: boolean;
}

function Axis({ span, left, width, height }: Field & { height: number }) {
  return (
    <g>
      {ticks(span, width).map(({ at, label }) => {
        const x = left + place({ from: at, to: at }, span, width).x;
        return (
          <g key={at}>
            <line class="gantt-grid" x1={x} x2={x} y1={head - 4} y2={height} />
            <text class="gantt-tick" x={x + 3} y={14}>
              {label}
            </text>
          </g>
        );
      })}
    </g>
  );
}

interface RowProps extends Field {
  row: GanttRow;
  me: string;
  chosen: string;
  height: number;
  addressOf(task: string): string;
}

const letter = 7.2;

function Row({ row, me, chosen, height, addressOf, span, left, width, isNarrow }: RowProps) {
  const room = Math.floor(((isNarrow ? width : left) - 8) / letter);
  const path = plain(row.path);
  const label = path.length > room ? `…${path.slice(path.length - room + 1)}` : path;
  const top = isNarrow ? 18 : 3;
  return (
    <>
      <line class="gantt-grid" x1={0} x2={left + width} y1={0} y2={0} />
      <text class="gantt-path" x={2} y={isNarrow ? 14 : 21}>
        {label}
        <title>{path}</title>
      </text>
      {row.bars.map((bar) => {
        const at = place(bar, span, width);
        const isShort = at.width < bar.task.length * letter + 10;
        const drawn = (
          <>
            <rect x={left + at.x} y={top} width={at.width} height={height - top - 5} rx={4} />
            {!isShort && (
              <text x={left + at.x + 6} y={top + 18}>
                {plain(bar.task)}
              </text>
            )}
            <title>{barWords(bar, me)}</title>
          </>
        );
        const kind = `gantt-bar is-${bar.is}${bar.clashes ? " is-clash" : ""}`;
        return bar.is === "wanted" ? (
          <g key="wanted" class={kind}>
            {drawn}
          </g>
        ) : (
          <a
            key={`${bar.task} ${bar.from}`}
            class={kind}
            href={addressOf(bar.task)}
            aria-label={barWords(bar, me)}
            {...(bar.task === chosen ? { "aria-current": "true" as const } : {})}
          >
            {drawn}
          </a>
        );
      })}
    </>
  );
}

const states = {
  active: "goes on",
  planned: "planned",
  ends: "ends soon, for another one",
  wanted: "wanted",
} as const;

const barWords = (bar: Bar, me: string) =>
  [
    plain(bar.task),
    bar.requester === "" ? "" : whoWords(bar.requester, me),
    plain(bar.path),
    `${shortTime(bar.from)} to ${shortTime(bar.to)}`,
    bar.clashes ? "in the way" : states[bar.is],
  ]
    .filter((s) => s !== "")
    .join(", ");
