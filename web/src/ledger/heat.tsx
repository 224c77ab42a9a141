import { useCallback, useState } from "preact/hooks";
import type { Api, LedgerNode } from "../api";
import { percent, plain, plural, shortTime } from "../format";
import { nodeAddress } from "../shell/place";
import { type HeatMap, holesOf, spans as longSpans } from "../site/coverage";
import { Strip } from "../site/strip";
import { usePoll } from "../use-poll";
import { rowsByNode } from "./node-heat";
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
      {!data && !problem && <p class="asking">Counting samples…</p>}
      {data && <Heat map={data} nodes={nodes} />}
    </section>
  );
}

async function wholeMap(api: Api, span: Span): Promise<HeatMap> {
  const to = api.now();
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

function Heat({ map, nodes }: { map: HeatMap; nodes: readonly LedgerNode[] }) {
  const [pointed, setPointed] = useState("");
  const placed = nodes.map((n) => ({ node: n.node, prefix: n.prefix, depth: n.path.length }));
  const rows = rowsByNode(map.rows, placed);
  const begin = Date.parse(map.from);
  const timeOf = (cell: number) => shortTime(begin + cell * map.step * 1000);
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
          {rows.map((row) => {
            const holes = holesOf(row, map).length;
            return (
              <tr key={row.path}>
                <th scope="row">
                  <a href={nodeAddress(row.path)}>{plain(row.path)}</a>
                </th>
                <td class="number">
                  {row.expected > 0 ? percent(row.present, row.expected) : "–"}
                </td>
                <td>
                  <Strip
                    coverage={row.coverage}
                    label={holes === 0 ? "No holes" : plural(holes, "hole")}
                    onPoint={(cell) => {
                      const c = cell === undefined ? undefined : row.coverage[cell];
                      const share = typeof c === "number" ? percent(c, 1) : "nothing expected";
                      setPointed(
                        cell === undefined
                          ? ""
                          : `${plain(row.path)}, ${timeOf(cell)} to ${timeOf(cell + 1)}: ${share}`,
                      );
                    }}
                    onChoose={() => {}}
                  />
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <p class="heat-axis quiet" aria-hidden="true">
        <span>{shortTime(begin)}</span>
        <span>{shortTime((begin + Date.parse(map.to)) / 2)}</span>
        <span>{shortTime(Date.parse(map.to))}</span>
      </p>
      <p class="heat-pointed quiet">
        {pointed ||
          "Red is what has not arrived, or was never measured. What catches up closes the hole."}
        {map.next !== "" && " Only the first 5,000 devices are shown."}
      </p>
    </>
  );
}
