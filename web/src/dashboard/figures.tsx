import { plain, unit, value } from "../format";
import type { DashboardTile } from "../generated/api";
import type { Curve } from "../series";
import { pointAddress } from "../shell/place";
import { type Reading, type Source, useReadings } from "./board-values";
import { doubtWords, labelsOf, markOf, shareOf, shownOf, valueWords } from "./words";

interface Props {
  tile: DashboardTile;
  source: Source;
}

const none: readonly string[] = [];

/** One point as a large number, before its last hours. */
export function ValueTile({ tile, source }: Props) {
  const [r] = useReadings(source, tile.points ?? none);
  if (!r) return null;
  const doubt = doubtWords(r, tile);
  const spark = source.sparks.get(r.path);
  return (
    <div class={`figure-tile ${markOf(r, tile)}`}>
      {spark && <Spark curve={spark} />}
      <Big r={r} />
      <p class="doubt">{doubt}</p>
    </div>
  );
}

function Big({ r }: { r: Reading }) {
  const long = typeof shownOf(r) === "string" || r.missing;
  return (
    <p class={`big number${long ? " is-long" : ""}`}>
      {r.missing ? "no such point" : value(shownOf(r), r.point?.unit)}
      {r.last && r.point?.unit && <span class="unit"> {unit(r.point.unit)}</span>}
    </p>
  );
}

/** The course of values without an axis; it only decorates the number before it. */
function Spark({ curve: { times, values } }: { curve: Curve }) {
  const known = values.filter((v) => v !== null);
  const first = times[0] ?? 0;
  const last = times.at(-1) ?? 0;
  if (known.length < 2 || last <= first) return null;
  const low = Math.min(...known);
  const high = Math.max(...known);
  const y = (v: number) => (high > low ? 30 - (28 * (v - low)) / (high - low) : 16);
  let line = "";
  let pen = "M";
  times.forEach((t, i) => {
    const v = values[i] ?? null;
    if (v === null) {
      pen = "M";
      return;
    }
    line += `${pen}${((100 * (t - first)) / (last - first)).toFixed(1)} ${y(v).toFixed(1)}`;
    pen = "L";
  });
  return (
    <svg class="tile-spark" viewBox="0 0 100 32" preserveAspectRatio="none" aria-hidden="true">
      <path class="tile-spark-line" d={line} vector-effect="non-scaling-stroke" />
    </svg>
  );
}

const from = -120;
const sweep = 240;

/** A part of the circle of a gauge, between shares of its scale. */
export function arc(low: number, high: number, radius: number): string {
  const at = (share: number) => {
    const a = ((from + sweep * share - 90) * Math.PI) / 180;
    return `${(50 + radius * Math.cos(a)).toFixed(2)} ${(50 + radius * Math.sin(a)).toFixed(2)}`;
  };
  const large = (high - low) * sweep > 180 ? 1 : 0;
  return `M${at(low)}A${radius} ${radius} 0 ${large} 1 ${at(high)}`;
}

/** One point on a round scale, with what is below and above its limits at the rim. */
export function GaugeTile({ tile, source }: Props) {
  const [r] = useReadings(source, tile.points ?? none);
  if (!r) return null;
  const { min = 0, max = 100, low, high } = tile;
  const share = shareOf(r, tile);
  const at = (n: number) => Math.min(1, Math.max(0, (n - min) / (max - min)));
  return (
    <div class={`gauge-tile ${markOf(r, tile)}`}>
      <svg viewBox="0 4 100 78" aria-hidden="true">
        <path class="gauge-back" d={arc(0, 1, 40)} />
        {share !== undefined && share > 0.002 && <path class="gauge-fill" d={arc(0, share, 40)} />}
        {low !== undefined && low > min && <path class="gauge-limit" d={arc(0, at(low), 47)} />}
        {high !== undefined && high < max && <path class="gauge-limit" d={arc(at(high), 1, 47)} />}
        <text class="gauge-value" x="50" y="54">
          {r.missing ? "–" : value(shownOf(r), r.point?.unit)}
        </text>
        <text class="gauge-unit" x="50" y="66">
          {unit(r.point?.unit ?? "")}
        </text>
        <text class="gauge-end" x="14" y="80">
          {value(min)}
        </text>
        <text class="gauge-end" x="86" y="80">
          {value(max)}
        </text>
      </svg>
      <p class="unseen">{valueWords(r)}</p>
      <p class="doubt">{doubtWords(r, tile)}</p>
    </div>
  );
}

/** Points beside each other on one scale. */
export function BarTile({ tile, source }: Props) {
  const readings = useReadings(source, tile.points ?? none);
  const labels = labelsOf(readings);
  return (
    <ul class="bars">
      {readings.map((r, i) => (
        <li key={r.path} class={markOf(r, tile)} title={plain(r.path)}>
          <a href={pointAddress(r.path)}>{labels[i]}</a>
          <span class="number">{valueWords(r)}</span>
          <span class="bar-back" aria-hidden="true">
            <span class="bar-fill" style={{ width: `${100 * (shareOf(r, tile) ?? 0)}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

const isOn = (r: Reading) => {
  const v = shownOf(r);
  return v === true || (typeof v === "number" && v !== 0);
};

/** What is on and what is off. */
export function StateTile({ tile, source }: Props) {
  const readings = useReadings(source, tile.points ?? none);
  const labels = labelsOf(readings);
  return (
    <ul class="states">
      {readings.map((r, i) => (
        <li key={r.path} class={`${markOf(r)}${isOn(r) ? " is-on" : ""}`} title={plain(r.path)}>
          <span class="lamp" aria-hidden="true" />
          <a href={pointAddress(r.path)}>{labels[i]}</a>
          <strong>{r.missing ? "missing" : value(shownOf(r))}</strong>
          {doubtWords(r) && !r.missing && <span class="doubt">{doubtWords(r)}</span>}
        </li>
      ))}
    </ul>
  );
}

/** Points with their values and how far these can be relied on. */
export function TableTile({ tile, source }: Props) {
  const readings = useReadings(source, tile.points ?? none);
  const labels = labelsOf(readings);
  return (
    <table class="board-table">
      <thead class="unseen">
        <tr>
          <th scope="col">Point</th>
          <th scope="col">Value</th>
          <th scope="col">Quality</th>
        </tr>
      </thead>
      <tbody>
        {readings.map((r, i) => (
          <tr key={r.path} class={markOf(r, tile)} title={plain(r.path)}>
            <th scope="row">
              <a href={pointAddress(r.path)}>{labels[i]}</a>
            </th>
            <td class="number">{valueWords(r)}</td>
            <td class="quality">
              <span class="dot" aria-hidden="true" />{" "}
              {r.missing ? "missing" : doubtWords(r, tile) || "good"}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
