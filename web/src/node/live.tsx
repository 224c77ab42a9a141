import { memo } from "preact/compat";
import { useMemo, useState } from "preact/hooks";
import { Halt } from "../agent/log-view";
import type { Api, Point } from "../api";
import {
  age,
  count,
  exact,
  localTimes,
  plain,
  plural,
  qualityName,
  reasonFor,
  unit,
  value,
} from "../format";
import type { Node } from "../generated/api";
import type { Live } from "../live";
import { go, nodeAddress, type Place } from "../shell/place";
import { LiveColumns, rowClass } from "../site/points-table";
import { isStale } from "../site/tree";
import { useTick } from "../use-site";
import { offsetOf } from "./fleet";
import { type FarLive as Far, mostFar, useFarLive } from "./use-far-live";
import { allowWords } from "./words";

interface Props {
  api: Api;
  node: Node;
  place: Place;
  epoch: number;
}

/** The live values of another node's points, also of those that nobody records here. */
export function FarLive({ api, node, place, epoch }: Props) {
  const { name } = node;
  const far = useMemo(() => api.at(name), [api, name]);
  const pattern = new URLSearchParams(place.search).get("pattern") ?? "";
  const [isStopped, setStopped] = useState(false);
  const watched = useFarLive(far, pattern, isStopped, epoch);
  const { points, isCut, live, link, dropped, problem, again } = watched;
  return (
    <section class="card panel" aria-labelledby="live-title">
      <div class="panel-head">
        <h2 id="live-title">Live values</h2>
        <Selection
          key={pattern}
          node={name}
          pattern={pattern}
          isStopped={isStopped}
          onStop={() => setStopped(!isStopped)}
        />
      </div>
      <p class="quiet" role="status" aria-label="Live values of the node">
        {sentence(watched, isStopped)}
      </p>
      {problem && <p class="problem">{localTimes(plain(problem))}</p>}
      <Halt link={link} missing={(capability) => allowWords(name, capability)} onAgain={again} />
      {points && points.length > 0 && (
        // Its readings have the times of its own clock
        <Table points={points} live={live} now={() => api.now() + offsetOf(node)} />
      )}
      {isCut && (
        <p class="quiet">
          These are the first {count(mostFar)} points; a narrower pattern shows others.
        </p>
      )}
      {dropped > 0 && (
        <p class="quiet">{plural(dropped, "message")} came faster than they could be sent.</p>
      )}
      <p class="quiet">
        They come from {plain(name)} by way of this node while somebody looks. Nothing of them is
        stored here, and points that are not sent up are among them. They are called as{" "}
        {plain(name)} calls them.
      </p>
    </section>
  );
}

/** How the stream stands. */
function sentence({ points, link, problem }: Far, isStopped: boolean): string {
  if (!points) return problem || link.state === "refused" ? "" : "Asking for its points…";
  if (points.length === 0) return "It has no point that the pattern selects.";
  if (isStopped) return `${plural(points.length, "point")}, stopped.`;
  if (link.state === "live") return `${plural(points.length, "point")}, live.`;
  return link.state === "connecting" ? "Waiting for the first values…" : "";
}

interface SelectionProps {
  node: string;
  pattern: string;
  isStopped: boolean;
  onStop(): void;
}

function Selection({ node, pattern, isStopped, onStop }: SelectionProps) {
  const [typed, setTyped] = useState(pattern);
  return (
    <form
      class="agent-filter"
      onSubmit={(e) => {
        e.preventDefault();
        const wanted = typed.trim();
        const query = { part: "live", ...(wanted ? { pattern: wanted } : {}) };
        go(`${nodeAddress(node)}?${new URLSearchParams(query)}`, "replace");
      }}
    >
      <input
        type="search"
        aria-label="Pattern of the points"
        placeholder="All, or such as ahu1/**"
        maxLength={1024}
        spellcheck={false}
        autocapitalize="off"
        value={typed}
        onInput={(e) => setTyped(e.currentTarget.value)}
      />
      <button type="submit">Show</button>
      <button type="button" aria-pressed={isStopped} onClick={onStop}>
        {isStopped ? "Go on" : "Stop"}
      </button>
    </form>
  );
}

interface TableProps {
  points: readonly Point[];
  live: Far["live"];
  now(): number;
}

function Table({ points, live, now }: TableProps) {
  useTick(live);
  const time = now();
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="table-box far-live" tabIndex={0} aria-label="Values of its points">
      <table class="points">
        <thead>
          <tr>
            <LiveColumns />
          </tr>
        </thead>
        <tbody>
          {points.map((point) => {
            const last = live.get(point.path);
            const passed = last ? Math.max(0, time - last.time) : 0;
            return (
              <Row
                key={point.path}
                point={point}
                last={last}
                age={last ? age(passed) : ""}
                isStale={last !== undefined && isStale(passed, point.interval * 1000)}
              />
            );
          })}
        </tbody>
      </table>
    </section>
  );
}

interface RowProps {
  point: Point;
  last: Live | undefined;
  age: string;
  isStale: boolean;
}

const Row = memo(function Row({ point, last, age: old, isStale: stale }: RowProps) {
  const told = qualityName(last?.quality ?? "");
  const quality = !last ? "no value yet" : stale ? `stale, was ${told}` : told;
  return (
    <tr class={rowClass(last, stale)}>
      <th scope="row" title={plain(point.description)}>
        <span class="name">{plain(point.path)}</span>
      </th>
      <td class="number value" title={exact(last?.value)}>
        {value(last?.value, point.unit)}
        <span class="narrow unit"> {unit(point.unit)}</span>
        <span class="below quiet">{old}</span>
      </td>
      <td class="wide unit">{unit(point.unit)}</td>
      <td class="quality" title={reasonFor(last?.quality ?? "") || quality}>
        <span class="dot" aria-hidden="true" />
        <span>{quality}</span>
      </td>
      <td class="number age">{old}</td>
    </tr>
  );
});
