import { useCallback, useState } from "preact/hooks";
import type { Api, LedgerNode } from "../api";
import { clock, percent, plain, plural, shortTime, zoneWords } from "../format";
import type { Child, Node } from "../generated/api";
import { type Late, lateness, outagesAround } from "../node/outage";
import { useChildren, useFleet } from "../node/use-fleet";
import { nodeAddress } from "../shell/place";
import { type HeatMap, type HeatRow, holesOf, spans as longSpans } from "../site/coverage";
import { Strip } from "../site/strip";
import { usePoll } from "../use-poll";
import { begun, type Placed, placesOf, rowsByNode, shareOf } from "./node-heat";
import "../site/site.css";

interface Props {
  api: Api;
  epoch: number;
  nodes: readonly LedgerNode[];
}

/** A quarter of an hour shows a cable that is pulled and put back. */
const spans = [
  { key: "15min", label: "15 minutes", ms: 15 * 60_000, steps: 90 },
  ...longSpans,
] as const;

type Span = (typeof spans)[number];

const rowsOfPage = 1000;
const mostPages = 5;

/** How complete the history here is over time, a row for each node. A gap that was caught up with closes. */
export function NodeHeat({ api, epoch, nodes }: Props) {
  const { data: fleet } = useFleet(api);
  const { data: children, problem: other } = useChildren(api, fleet, epoch);
  const joined = children ?? (other ? [] : undefined);
  const [span, setSpan] = useState<Span>(spans[0]);
  const ask = useCallback(() => wholeMap(api, span), [api, span]);
  const { data, problem } = usePoll(ask, 15_000, epoch);
  return (
    <section class="card panel heat node-heat" aria-labelledby="heat-title">
      <div class="panel-head">
        <h2 id="heat-title">Completeness of the history here, by node</h2>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
        <div role="group" aria-label="Time span" class="joined">
          {spans.map((s) => (
            <button key={s.key} type="button" aria-pressed={s === span} onClick={() => setSpan(s)}>
              {s.label}
            </button>
          ))}
        </div>
      </div>
      {problem && <p class="problem">{plain(problem)}</p>}
      {!(data && joined) && !problem && <p class="asking">Counting samples…</p>}
      {data && joined && <Heat map={data} {...{ nodes, joined }} fleet={fleet?.nodes ?? []} />}
    </section>
  );
}

async function wholeMap(api: Api, span: Span): Promise<HeatMap> {
  const step = span.ms / span.steps;
  const to = Math.floor(api.now() / step) * step; // a step that is not over lacks what is still measured
  const query = {
    ...{ pattern: "**", steps: span.steps, limit: rowsOfPage },
    from: new Date(to - span.ms).toISOString(),
    to: new Date(to).toISOString(),
  };
  const first = await api.get<HeatMap>("completeness", query);
  let { next } = first;
  const rows = [...first.rows];
  for (let page = 1; next !== "" && page < mostPages; page++) {
    const more = await api.get<HeatMap>("completeness", { ...query, after: next });
    rows.push(...more.rows);
    next = more.next;
  }
  return { ...first, rows, next };
}

interface HeatProps {
  map: HeatMap;
  nodes: readonly LedgerNode[];
  /** The nodes that joined this one, also those that were shut out: their points stay. */
  joined: readonly Child[];
  /** What is known of the nodes: when they were away. */
  fleet: readonly Node[];
}

function Heat({ map, nodes, joined, fleet }: HeatProps) {
  const [pointed, setPointed] = useState("");
  const placed = placesOf(nodes, joined);
  const rows = rowsByNode(map.rows, placed).map(begun);
  const begin = Date.parse(map.from);
  if (rows.length === 0) return <p class="quiet">There is no history yet.</p>;
  return (
    <>
      <table class="heat-table">
        <colgroup>
          <col class="heat-name" />
          <col class="heat-share" />
          <col />
        </colgroup>
        <thead class="unseen">
          <tr>
            <th scope="col">Node</th>
            <th scope="col">Complete</th>
            <th scope="col">Over time</th>
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row
              key={row.path}
              row={row}
              map={map}
              place={placed.find((p) => p.node === row.path)}
              late={lateness(row.coverage, outagesAround(fleet, row.path), begin, map.step * 1000)}
              onPoint={setPointed}
            />
          ))}
        </tbody>
      </table>
      <p class="heat-axis quiet" aria-hidden="true">
        <span>{shortTime(begin)}</span>
        <span>{shortTime((begin + Date.parse(map.to)) / 2)}</span>
        <span>{shortTime(Date.parse(map.to))}</span>
      </p>
      <p class="heat-pointed quiet" role="note">
        {pointed || `${howToRead} ${zoneWords()}.`}
        {map.next !== "" && " Only the first 5,000 devices are shown."}
      </p>
      <ul class="heat-legend quiet" aria-label="Colours">
        {keys.map(([shade, words]) => (
          <li key={shade}>
            <span class={`heat-key heat-${shade}`} aria-hidden="true" /> {words}
          </li>
        ))}
      </ul>
    </>
  );
}

const howToRead =
  "Point at a step to read it. What catches up closes the hole. What was never measured, by a silent device or a node that was off, stays a hole and is no loss.";

const keys = [
  ["full", "arrived at once"],
  ["late", "arrived late, after an outage"],
  ["waits", "not here yet: waits at the node"],
  ["some", "a part is missing or was not measured"],
  ["all", "missing or not measured"],
  ["none", "nothing expected"],
] as const;

interface RowProps {
  row: HeatRow;
  map: HeatMap;
  place: Placed | undefined;
  late: readonly Late[];
  onPoint(words: string): void;
}

function Row({ row, map, place, late, onPoint }: RowProps) {
  const depth = Math.max(0, (place?.depth ?? 1) - 1); // below those that join this one
  const begin = Date.parse(map.from);
  const timeOf = (cell: number) => clock(begin + cell * map.step * 1000);
  const wordsAt = (cell: number) => {
    const c = row.coverage[cell];
    const share = typeof c === "number" ? percent(c, 1) : "nothing expected";
    const how = { late: ", arrived late", waits: " here, the rest waits at the node", none: "" };
    return `${plain(row.path)}, ${timeOf(cell)} to ${timeOf(cell + 1)}: ${share}${how[late[cell] ?? "none"]}`;
  };
  const point = (cell: number | undefined) => onPoint(cell === undefined ? "" : wordsAt(cell));
  return (
    <tr>
      <th scope="row" style={{ "--depth": depth } as preact.CSSProperties}>
        <a href={nodeAddress(row.path)}>{plain(row.path)}</a>
        {place?.isOut && <span class="quiet"> (shut out)</span>}
      </th>
      <td class="number">{shareOf(row.coverage)}</td>
      <td>
        <Strip
          coverage={row.coverage}
          late={late}
          label={stripWords(row, map, late)}
          onPoint={point}
          onChoose={point}
        />
      </td>
    </tr>
  );
}

/** As many holes, the latest, are told with their times. */
const mostTold = 3;

/** What a strip shows, for those who do not see it. */
function stripWords(row: HeatRow, map: HeatMap, late: readonly Late[]): string {
  const holes = holesOf(row, map);
  const when = holes.slice(-mostTold).map((h) => `${clock(h.from)} to ${clock(h.to)}`);
  const of = (kind: Late) => late.filter((l) => l === kind).length;
  return [
    holes.length === 0 ? "No holes" : `${plural(holes.length, "hole")}: ${when.join(", ")}`,
    ...(of("late") > 0 ? [`${plural(of("late"), "step")} arrived late`] : []),
    ...(of("waits") > 0 ? [`${plural(of("waits"), "step")} not here yet`] : []),
  ].join(", ");
}
