import { memo } from "preact/compat";
import type { Point } from "../api";
import { age, dateTime, exact, qualityName, reasonFor, span, unit, value } from "../format";
import type { Known, Live, LiveValues } from "../live";
import { relativeTo } from "../path";
import { PointName } from "../point-name";
import { pointAddress } from "../shell/place";
import { useTick } from "../use-site";
import { rowHeight, useWindow } from "../use-window";
import { isStale } from "./tree";

interface Props {
  branch: string;
  points: readonly Point[];
  live: LiveValues;
  /** The plotted points, in the order of their colours. */
  plotted: readonly string[];
  now(): number;
  onToggle(path: string): void;
  /** What is said when there is no point. */
  empty?: string;
}

/** The live values of a branch. Only the rows on screen exist, and only changed ones are redrawn. */
export function PointsTable({
  branch,
  points,
  live,
  plotted,
  now,
  onToggle,
  empty = "No points here.",
}: Props) {
  useTick(live);
  const list = useWindow<HTMLDivElement>(points.length, rowHeight());
  const time = now();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section ref={list.ref} class="table-box" tabIndex={0} aria-label="Live values">
      <table class="points" aria-rowcount={points.length + 1}>
        <thead>
          <tr>
            <LiveColumns />
            <th scope="col">
              <span class="unseen">Page</span>
            </th>
          </tr>
        </thead>
        <tbody>
          <Space rows={list.first} />
          {points.slice(list.first, list.end).map((point, i) => {
            const last = live.get(point.path);
            const known = live.lastKnown(point.path);
            const at = known?.time ?? (last && last.value !== null ? last.time : undefined);
            return (
              <PointRow
                key={point.path}
                index={list.first + i + 2}
                point={point}
                label={relativeTo(point.path, branch)}
                last={last}
                known={known}
                age={at === undefined ? "" : age(time - at)}
                stale={last ? isStale(time - last.time, point.interval * 1000) : false}
                color={plotted.indexOf(point.path)}
                onToggle={onToggle}
              />
            );
          })}
          <Space rows={points.length - list.end} />
        </tbody>
      </table>
      {points.length === 0 && <p class="empty">{empty}</p>}
    </section>
  );
}

/** The heads of the columns that every table of live values begins with. */
export function LiveColumns() {
  return (
    <>
      <th scope="col">Point</th>
      <th scope="col" class="number">
        Value
      </th>
      <th scope="col" class="wide">
        Unit
      </th>
      <th scope="col">Quality</th>
      <th scope="col" class="number">
        Age
      </th>
    </>
  );
}

/** The height of rows that do not exist. */
function Space({ rows }: { rows: number }) {
  if (rows <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row cannot be focused
    <tr aria-hidden="true">
      {/* Not more columns than a phone shows: others would take room of the names */}
      <td class="space" colSpan={4} style={{ height: `${rows * rowHeight()}px` }} />
    </tr>
  );
}

interface RowProps {
  index: number;
  point: Point;
  label: string;
  last: Live | undefined;
  /** Its last value, if it has none now. */
  known: Known | undefined;
  /** Of the value that is shown; "" without one. */
  age: string;
  stale: boolean;
  /** The index of its colour in the plot, -1 if it is not plotted. */
  color: number;
  onToggle(path: string): void;
}

const PointRow = memo(function PointRow({
  index,
  point,
  label,
  last,
  known,
  age,
  stale,
  color,
  onToggle,
}: RowProps) {
  const told = qualityName(last?.quality ?? "");
  const shown = known ? known.value : last?.value;
  const quality = known
    ? lastWords(last)
    : !last
      ? "no value yet"
      : stale
        ? `stale, was ${told}`
        : told;
  return (
    <tr aria-rowindex={index} class={rowClass(last, stale)}>
      <th scope="row" title={describe(point)}>
        <label>
          <input
            type="checkbox"
            class={color >= 0 ? `c${color}` : ""}
            checked={color >= 0}
            disabled={point.kind === "text"}
            onChange={() => onToggle(point.path)}
            aria-label={`Plot ${label}`}
          />
          <PointName path={point.path} description={point.description} shown={label} />
        </label>
      </th>
      <td
        class={`number value${known ? " is-old" : ""}`}
        title={known ? `${exact(known.value)}, ${dateTime(known.time)}` : exact(last?.value)}
      >
        {value(shown, point.unit)}
        <span class="narrow unit"> {unit(point.unit)}</span>
        <span class="below quiet">{age}</span>
      </td>
      <td class="wide unit">{unit(point.unit)}</td>
      <td class="quality" title={reasonFor(last?.quality ?? "") || quality}>
        <span class="dot" aria-hidden="true" />
        <span>{quality}</span>
      </td>
      <td class="number age">{age}</td>
      <td class="way-on">
        <a
          href={pointAddress(point.path)}
          title="Its page: who holds it, set it"
          aria-label={`Page of ${label}`}
        >
          ›
        </a>
      </td>
    </tr>
  );
});

/** What the quality says beside a last value: that nobody answers, before all else. */
const lastWords = (last: Live | undefined) =>
  /unreachable|timeout/.test(last?.quality ?? "") ? "offline" : qualityName(last?.quality ?? "");

/** How a row looks by the quality of its value. */
export function rowClass(last: Live | undefined, stale: boolean): string {
  if (!last || last.quality === "released") return "is-wait";
  if (last.quality.startsWith("bad")) return "is-bad";
  return stale || last.quality.startsWith("uncertain") ? "is-warn" : "is-good";
}

function describe(point: Point): string {
  const tags = Object.entries(point.tags ?? {}).map(([k, v]) => `${k}: ${v}`);
  const facts = [
    point.path,
    point.description,
    ...tags,
    point.interval > 0 ? `each ${span(point.interval * 1000)}` : "",
  ];
  return facts.filter((f) => f !== "").join("\n");
}
