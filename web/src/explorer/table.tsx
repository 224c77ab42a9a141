import { useEffect, useMemo, useState } from "preact/hooks";
import type { Api, PlotSeries } from "../api";
import { filled } from "../filled";
import { count, exact, plain, qualityName, reasonFor, unit, value } from "../format";
import { nameOf } from "../path";
import { type Curve, valueAt } from "../series";
import type { Span } from "../span";
import { wordsOf } from "../use-poll";
import { useWindow } from "../use-window";
import { dateTimeIn } from "../zone";
import { iso } from "./iso";
import { type Cell, rowsOf, type TableRow } from "./rows";
import type { Shown } from "./use-shown";
import type { ExplorerView } from "./view";

interface Props {
  api: Api;
  view: ExplorerView;
  window: Span;
  shown: Shown;
  zone: string;
}

const mostColumns = 20;
const mostSamples = 2000;
const rowHeight = 28;
const settled = 400;

/** The samples, or the figures of the steps, as a table with a column for each point. */
export function SampleTable({ api, view, window, shown, zone }: Props) {
  const points = useMemo(() => view.points.slice(0, mostColumns), [view.points]);
  const summed = view.step !== "";
  const measured = useSamples(api, summed ? noPoints : points, window);
  const columns = useMemo(
    () => (summed ? points.map((p) => shown.cells.get(p) ?? noCells) : measured.columns),
    [summed, points, shown.cells, measured.columns],
  );
  const beside = useBeside(shown);
  const rows = useMemo(() => besides(rowsOf(columns), beside), [columns, beside, shown.version]);
  const heads = [
    ...points.map((p) => ({
      key: p,
      name: nameOf(p),
      title: p,
      unit: shown.loaded.find((c) => c.point === p)?.unit ?? "",
    })),
    ...beside.map(({ head }) => head),
  ];
  const notes = [
    view.points.length > mostColumns ? `The first ${mostColumns} points are shown.` : "",
    columns.some((c) => c.some((cell) => cell.quality === filled))
      ? "Values in italics are from the log of the device, read after it could not be reached."
      : "",
    measured.truncated && !summed
      ? `The newest ${count(mostSamples)} samples of each point are shown; download for all.`
      : "",
    plain(measured.problem || (summed ? shown.problem : "")),
  ].filter((n) => n !== "");
  return (
    <>
      <Rows heads={heads} rows={rows} zone={zone} />
      {notes.map((n) => (
        <p key={n} class="quiet plot-foot">
          {n}
        </p>
      ))}
    </>
  );
}

const noPoints: readonly string[] = [];
const noCells: readonly Cell[] = [];

/** The heading of a column. */
interface Head {
  key: string;
  name: string;
  title: string;
  unit: string;
}

/** A column beside those of the points, with the curve that it is read from. */
interface Beside {
  head: Head;
  curve: Curve;
}

/** What points are compared with, how far they are from it, and what formulas make of them. */
function useBeside({ loaded, computed, differences }: Shown): readonly Beside[] {
  return useMemo(() => {
    const ghosts = [...loaded, ...computed].filter((c) => c.ghost);
    const of = (what: string) => (curve: Curve) => {
      const name =
        curve.point.includes("(") || curve.point.includes("'") ? curve.point : nameOf(curve.point);
      const title = `${curve.point}${what ? `, ${what}` : ""}`;
      const head = {
        key: title,
        name: `${name}${what ? `, ${what}` : ""}`,
        title,
        unit: curve.unit,
      };
      return { head, curve };
    };
    return [
      ...computed.filter((c) => !c.ghost).map(of("")),
      ...ghosts.map(of("before")),
      ...differences.map(of("difference")),
    ];
  }, [loaded, computed, differences]);
}

/** Adds to rows what holds at their times. */
function besides(rows: readonly TableRow[], beside: readonly Beside[]): readonly TableRow[] {
  if (beside.length === 0) return rows;
  return rows.map(({ time, cells }) => ({
    time,
    cells: [
      ...cells,
      ...beside.map(({ curve }) => ({ time, value: valueAt(curve, time) ?? null, quality: "" })),
    ],
  }));
}

function Rows({
  heads,
  rows,
  zone,
}: {
  heads: readonly Head[];
  rows: readonly TableRow[];
  zone: string;
}) {
  const list = useWindow<HTMLDivElement>(rows.length, rowHeight);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section ref={list.ref} class="samples" tabIndex={0} aria-label="Samples">
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {heads.map((h) => (
              <th key={h.key} scope="col" class="number" title={h.title}>
                {plain(h.name)} <span class="unit">{unit(h.unit)}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Space rows={list.first} columns={heads.length + 1} />
          {rows.slice(list.first, list.end).map((row, i) => (
            <tr key={row.time} aria-rowindex={list.first + i + 2}>
              <th scope="row">{dateTimeIn(row.time, zone)}</th>
              {row.cells.map((cell, k) => (
                <td
                  key={heads[k]?.key}
                  class={`number${cell ? classFor(cell.quality) : ""}`}
                  title={
                    cell &&
                    [exact(cell.value), reasonFor(cell.quality) || qualityName(cell.quality)].join(
                      " ",
                    )
                  }
                >
                  {cell ? wordsFor(cell) : ""}
                </td>
              ))}
            </tr>
          ))}
          <Space rows={rows.length - list.end} columns={heads.length + 1} />
        </tbody>
      </table>
      {rows.length === 0 && <p class="empty">No samples in this time.</p>}
    </section>
  );
}

function classFor(quality: string): string {
  if (quality.startsWith("bad")) return " is-bad";
  if (quality.startsWith("uncertain")) return " is-warn";
  return quality === filled ? " is-filled" : "";
}

const wordsFor = ({ value: v, quality }: Cell) =>
  v === null && quality ? qualityName(quality) : value(v);

/** The height of rows that do not exist. */
function Space({ rows, columns }: { rows: number; columns: number }) {
  if (rows <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: an empty row cannot be focused
    <tr aria-hidden="true">
      <td class="space" colSpan={columns} style={{ height: `${rows * rowHeight}px` }} />
    </tr>
  );
}

interface Samples {
  columns: readonly (readonly Cell[])[];
  truncated: boolean;
  problem: string;
}

const nothing: Samples = { columns: [], truncated: false, problem: "" };

/** Asks for the newest samples within a window, as soon as it stands still. */
function useSamples(api: Api, points: readonly string[], [from, to]: Span): Samples {
  const [samples, setSamples] = useState<Samples>(nothing);
  // A live window is asked anew each ten seconds, not with each redraw
  const end = Math.ceil(to / 10_000) * 10_000;
  const begin = Math.round(end - (to - from));
  useEffect(() => {
    if (points.length === 0) {
      setSamples(nothing);
      return;
    }
    const stop = new AbortController();
    const timer = setTimeout(async () => {
      const query = {
        point: points,
        from: iso(begin),
        to: iso(end),
        limit: mostSamples,
        newest: "true",
      };
      try {
        const { series } = await api.get<{ series: Ranged[] }>("range", query, stop.signal);
        const columns = series.map((s) => (s.samples ?? []).map(cellOf));
        setSamples({ columns, truncated: series.some((s) => s.truncated ?? false), problem: "" });
      } catch (err) {
        if (!stop.signal.aborted) setSamples((old) => ({ ...old, problem: wordsOf(err) }));
      }
    }, settled);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [api, points, begin, end]);
  return samples;
}

type Ranged = PlotSeries & { truncated?: boolean };

const cellOf = ([time, v, quality]: [number, Cell["value"], string?]): Cell => ({
  time,
  value: v,
  quality: quality ?? "",
});
