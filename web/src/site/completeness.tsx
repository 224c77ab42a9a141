import { useCallback, useEffect, useState } from "preact/hooks";
import type { Api, Point } from "../api";
import { count, dateTime, percent, plain, plural, shortTime } from "../format";
import { isUnder, patternFor, relativeTo } from "../path";
import { deviceAddress, exploreAddress, go } from "../shell/place";
import { usePoll, wordsOf } from "../use-poll";
import { mostPoints } from "../view";
import { type HeatMap, type HeatRow, type Hole, holesOf, type Span, spans } from "./coverage";
import { Strip } from "./strip";

interface Props {
  api: Api;
  epoch: number;
  branch: string;
  span: Span;
  points: readonly Point[];
  onSpan(span: Span): void;
}

const rowsOfPage = 200;

/** How complete the history of the branch is: a heat map by device and time, or the list of its holes. */
export function CompletenessPanel({ api, epoch, branch, span, points, onSpan }: Props) {
  const { map, problem, more, onMore } = useHeatMap(api, branch, span, epoch);
  const [asList, setAsList] = useState(false);
  const explore = (path: string, from: number, to: number) =>
    exploreAddress(curvesBelow(points, path), from, to);
  return (
    <section class="card heat" aria-labelledby="heat-title">
      <div class="heat-head">
        <h2 id="heat-title">Completeness of {plain(branch) || "the whole site"}</h2>
        <Choices span={span} onSpan={onSpan} asList={asList} onList={setAsList} />
      </div>
      {problem && <p class="problem">{problem}</p>}
      {map && <Summary map={map} />}
      {map && asList && <HoleList map={map} explore={explore} />}
      {map && !asList && <Heat map={map} branch={branch} explore={explore} />}
      {more && (
        <button type="button" onClick={onMore}>
          Show more devices
        </button>
      )}
      {!map && !problem && <p class="asking">Counting samples…</p>}
    </section>
  );
}

function useHeatMap(api: Api, branch: string, span: Span, epoch: number) {
  const page = useCallback(
    (after: string) => {
      const to = api.now();
      return api.get<HeatMap>("completeness", {
        pattern: branch === "" ? "**" : patternFor(branch),
        from: new Date(to - span.ms).toISOString(),
        to: new Date(to).toISOString(),
        steps: span.steps,
        limit: rowsOfPage,
        ...(after ? { after } : {}),
      });
    },
    [api, branch, span],
  );
  const first = useCallback(async () => ({ page, map: await page("") }), [page]);
  const { data: answer, problem } = usePoll(first, 60_000, epoch);
  // An answer about another branch or span says nothing about this one
  const data = answer?.page === page ? answer.map : undefined;
  const [rest, setRest] = useState<HeatMap[]>([]);
  const [fault, setFault] = useState("");
  // Pages behind a new first page are asked for anew
  useEffect(() => setRest([]), [data]);
  const map = data && { ...data, rows: [data, ...rest].flatMap((m) => m.rows) };
  const next = rest.at(-1)?.next ?? data?.next ?? "";
  const onMore = () =>
    void page(next).then(
      (m) => setRest((old) => [...old, m]),
      (err) => setFault(wordsOf(err)),
    );
  return { map, problem: problem || fault, more: next !== "", onMore };
}

/** The first curves that can be drawn below a branch. */
const curvesBelow = (points: readonly Point[], branch: string) =>
  points
    .filter((p) => p.kind !== "text" && isUnder(p.path, branch))
    .slice(0, mostPoints)
    .map((p) => p.path);

interface ChoicesProps {
  span: Span;
  onSpan(span: Span): void;
  asList: boolean;
  onList(asList: boolean): void;
}

function Choices({ span, onSpan, asList, onList }: ChoicesProps) {
  return (
    <div class="ranges">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-label="Time span" class="joined">
        {spans.map((s) => (
          <button key={s.key} type="button" aria-pressed={s === span} onClick={() => onSpan(s)}>
            {s.label}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-label="Form" class="joined">
        <button type="button" aria-pressed={!asList} onClick={() => onList(false)}>
          Map
        </button>
        <button type="button" aria-pressed={asList} onClick={() => onList(true)}>
          List
        </button>
      </div>
    </div>
  );
}

function Summary({ map }: { map: HeatMap }) {
  const expected = map.rows.reduce((sum, r) => sum + r.expected, 0);
  const present = map.rows.reduce((sum, r) => sum + r.present, 0);
  if (expected === 0) return <p class="quiet">How many samples to expect is not known here.</p>;
  return (
    <p>
      <strong>{percent(present, expected)}</strong> complete: {count(present)} of {count(expected)}{" "}
      expected samples are there.
    </p>
  );
}

type Explore = (path: string, from: number, to: number) => string;

interface HeatProps {
  map: HeatMap;
  branch: string;
  explore: Explore;
}

function Heat({ map, branch, explore }: HeatProps) {
  const [pointed, setPointed] = useState("");
  const begin = Date.parse(map.from);
  const stepMs = map.step * 1000;
  const cellTime = (cell: number) => begin + cell * stepMs;
  const describe = (row: HeatRow, cell: number | undefined) => {
    if (cell === undefined) return "";
    const c = row.coverage[cell];
    const share = c === null || c === undefined ? "nothing expected" : percent(c, 1);
    const name = plain(relativeTo(row.path, branch));
    return `${name}, ${shortTime(cellTime(cell))} to ${shortTime(cellTime(cell + 1))}: ${share}`;
  };
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
            <th scope="col">Device</th>
            <th scope="col">Complete</th>
            <th scope="col">Over time</th>
          </tr>
        </thead>
        <tbody>
          {map.rows.map((row) => (
            <tr key={row.path}>
              <th scope="row">
                <a href={deviceAddress(row.path)} title={row.path}>
                  {plain(relativeTo(row.path, branch))}
                </a>
              </th>
              <td class="number">{row.expected > 0 ? percent(row.present, row.expected) : "–"}</td>
              <td>
                <Strip
                  coverage={row.coverage}
                  label={wordsFor(row, map)}
                  onPoint={(cell) => setPointed(describe(row, cell))}
                  onChoose={(cell) => go(explore(row.path, cellTime(cell), cellTime(cell + 1)))}
                />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="heat-axis quiet" aria-hidden="true">
        <span>{shortTime(begin)}</span>
        <span>{shortTime((begin + Date.parse(map.to)) / 2)}</span>
        <span>{shortTime(Date.parse(map.to))}</span>
      </p>
      <Legend pointed={pointed} />
    </>
  );
}

const wordsFor = (row: HeatRow, map: HeatMap) => {
  const holes = holesOf(row, map).length;
  return holes === 0 ? "No holes" : `${plural(holes, "hole")}; the list names them`;
};

const shades = [
  ["full", "all there"],
  ["few", "95 % or more"],
  ["some", "half or more"],
  ["most", "less"],
  ["all", "nothing there"],
  ["none", "nothing expected"],
] as const;

function Legend({ pointed }: { pointed: string }) {
  return (
    <div class="heat-foot quiet">
      <ul class="heat-legend" aria-label="Colours of the map">
        {shades.map(([shade, words]) => (
          <li key={shade}>
            <span class={`heat-key heat-${shade}`} aria-hidden="true" /> {words}
          </li>
        ))}
      </ul>
      <p class="heat-pointed">{pointed || "Point at a cell for its time; click to explore it."}</p>
    </div>
  );
}

const mostHoles = 200;

function HoleList({ map, explore }: { map: HeatMap; explore: Explore }) {
  const holes = map.rows.flatMap((row) => holesOf(row, map)).sort((a, b) => b.to - a.to);
  if (holes.length === 0) return <p>There are no holes: every expected sample is there.</p>;
  return (
    <>
      <div class="scroll-x">
        <table class="plain-table">
          <thead>
            <tr>
              <th scope="col">Device</th>
              <th scope="col">From</th>
              <th scope="col">To</th>
              <th scope="col" class="number">
                Complete
              </th>
            </tr>
          </thead>
          <tbody>
            {holes.slice(0, mostHoles).map((h) => (
              <HoleRow
                key={`${h.path} ${h.from}`}
                hole={h}
                address={explore(h.path, h.from, h.to)}
              />
            ))}
          </tbody>
        </table>
      </div>
      {holes.length > mostHoles && (
        <p class="quiet">… and {count(holes.length - mostHoles)} older ones.</p>
      )}
    </>
  );
}

const HoleRow = ({ hole, address }: { hole: Hole; address: string }) => (
  <tr>
    <th scope="row">
      <a href={address}>{plain(hole.path)}</a>
    </th>
    <td class="number">{dateTime(hole.from)}</td>
    <td class="number">{dateTime(hole.to)}</td>
    <td class="number">{percent(hole.coverage, 1)}</td>
  </tr>
);
