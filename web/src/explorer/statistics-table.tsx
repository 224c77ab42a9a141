import { count, percent, plain, unit, value } from "../format";
import { nameOf } from "../path";
import { inkStyle } from "../plot-axes";
import { type Curve, countedOf } from "../series";
import type { Span } from "../span";
import { changeOf, integral, type Statistics, statisticsOfCurve } from "./statistics";
import type { PointStatistics } from "./use-statistics";
import { mostSummed } from "./use-statistics";
import type { Comparison } from "./view";

/** A line of the table. */
export interface Line {
  key: string;
  name: string;
  title: string;
  ink: number;
  unit: string;
  statistics: Statistics;
  /** The integral over the time that has samples, with its unit. */
  integral: string;
  complete: string;
  /** The mean of what it is compared with. */
  before: number | null | undefined;
}

/** The lines of points whose statistics are known. */
export function linesOf(points: readonly string[], known: PointStatistics): Line[] {
  return points.flatMap((path, ink) => {
    const found = known.now.get(path);
    if (!found) return [];
    const { statistics, summary } = found;
    const sum = integral(statistics, summary.unit, known.window, summary);
    return [
      {
        key: path,
        name: nameOf(path),
        title: path,
        ink,
        unit: summary.unit,
        statistics,
        integral: sum ? `${value(sum.value)} ${unit(sum.unit)}` : "",
        complete: summary.expected ? percent(countedOf(summary), summary.expected) : "",
        before: known.before.get(path)?.statistics.mean,
      },
    ];
  });
}

/** The lines of computed series, from their drawn values: the node does not know them. */
export function computedLines(computed: readonly Curve[], window: Span): Line[] {
  return computed.flatMap((curve) => {
    if (curve.ghost) return [];
    const ghost = computed.find((c) => c.ghost && c.point === curve.point);
    return [
      {
        key: curve.point,
        name: curve.point,
        title: `${curve.point}, of its drawn values`,
        ink: curve.ink ?? 0,
        unit: curve.unit,
        statistics: statisticsOfCurve(curve, window),
        integral: "",
        complete: "",
        before: ghost && statisticsOfCurve(ghost, window).mean,
      },
    ];
  });
}

const figures: readonly (readonly [keyof Statistics, string])[] = [
  ["mean", "Mean"],
  ["weighted", "Mean by time"],
  ["min", "Min"],
  ["p5", "5 %"],
  ["median", "Median"],
  ["p95", "95 %"],
  ["max", "Max"],
  ["stddev", "Std. dev."],
  ["sum", "Sum"],
];

const earlier: Record<Comparison, string> = {
  "": "",
  day: "day before",
  week: "week before",
  month: "month before",
  year: "year before",
};

/** What the values of a stretch of time are like, and how they differ from those of another one. */
export function StatisticsTable({
  lines,
  comparison,
  problem,
  points,
}: {
  lines: readonly Line[];
  comparison: Comparison;
  problem: string;
  points: number;
}) {
  const compared = comparison !== "";
  return (
    <section class="card explore-card statistics" aria-labelledby="statistics-title">
      <h2 id="statistics-title">Statistics</h2>
      {problem && <p class="problem">{plain(problem)}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="sideways" tabIndex={0} aria-label="Statistics of the shown points">
        <table>
          <thead>
            <tr>
              <th scope="col">Point</th>
              {figures.map(([key, name]) => (
                <th key={key} scope="col" class="number">
                  {name}
                </th>
              ))}
              <th scope="col" class="number" title="The mean by time, times the hours with samples">
                Integral
              </th>
              <th scope="col" class="number">
                Samples
              </th>
              <th scope="col" class="number">
                Complete
              </th>
              {compared && (
                <>
                  <th scope="col" class="number">
                    Mean, {earlier[comparison]}
                  </th>
                  <th scope="col" class="number">
                    Difference
                  </th>
                </>
              )}
            </tr>
          </thead>
          <tbody>
            {lines.map((line) => (
              <Row key={line.key} line={line} compared={compared} />
            ))}
          </tbody>
        </table>
      </section>
      {points > mostSummed && <p class="quiet">The first {mostSummed} points are summarised.</p>}
    </section>
  );
}

function Row({ line, compared }: { line: Line; compared: boolean }) {
  const { statistics: s } = line;
  return (
    <tr>
      <th scope="row" title={line.title}>
        <span class="swatch" style={{ "--ink": inkStyle(line.ink) }} aria-hidden="true" />{" "}
        {plain(line.name)} <span class="unit">{unit(line.unit)}</span>
      </th>
      {figures.map(([key]) => (
        <td key={key} class="number">
          {value(s[key])}
        </td>
      ))}
      <td class="number">{line.integral || "–"}</td>
      <td class="number">{count(s.count)}</td>
      <td class="number">{line.complete || "–"}</td>
      {compared && (
        <>
          <td class="number">{value(line.before ?? null)}</td>
          <td class="number">{changeWords(line)}</td>
        </>
      )}
    </tr>
  );
}

/** "+1.2 K", "−3.4 kW (−12.0 %)". */
function changeWords({ statistics, before: then, unit: name }: Line): string {
  const change = changeOf(statistics.mean, then ?? null, name);
  if (!change) return "–";
  const signed = (n: number, words: string) => (n > 0 ? `+${words}` : words.replace("-", "−"));
  const share =
    change.share === undefined
      ? ""
      : ` (${signed(change.share, (change.share * 100).toFixed(1))} %)`;
  return `${signed(change.value, value(change.value))} ${unit(change.unit)}${share}`;
}
