import { useCallback } from "preact/hooks";
import type { Api } from "../api";
import { count, hourMinute, plain } from "../format";
import type { MeterHour, MeterProgress } from "../generated/api";
import { usePoll } from "../use-poll";
import { hoursOf, type Portion, portions, type Rated, rateCurve, share } from "./words";

interface Props {
  api: Api;
  day: string;
  epoch: number;
  /** Intervals of the day that are expected. */
  expected: number;
}

/** How far each hour of a day is, and how late readings came. */
export function Progress({ api, day, epoch, expected }: Props) {
  const ask = useCallback(() => api.get<MeterProgress>("metering/progress", { day }), [api, day]);
  const { data, problem } = usePoll(ask, 60_000, epoch);
  const shown = data?.day === day ? data : undefined;
  if (problem && !shown) {
    return (
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
    );
  }
  if (!shown || expected === 0) return null;
  return (
    <div class="metering-pair">
      <Hours hours={shown.hours} />
      <ReadRate rated={rateCurve(shown.arrived, expected)} />
    </div>
  );
}

const height = 150;
const gap = 2;

/** A bar for each hour, as high as the intervals that are expected. */
function Hours({ hours }: { hours: readonly MeterHour[] }) {
  const list = hoursOf(hours);
  const most = Math.max(1, ...list.map((h) => h.expected));
  const width = 100 / Math.max(1, list.length);
  const sums = portions.map((p) => ({ ...p, n: list.reduce((n, h) => n + h[p.key], 0) }));
  return (
    <section class="card panel" aria-labelledby="hours-title">
      <h2 id="hours-title">By hour</h2>
      <svg
        class="hours"
        viewBox={`0 0 100 ${height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={sums.map((s) => `${s.name}: ${count(s.n)}`).join(", ")}
      >
        {list.map((h, i) => {
          let top = height;
          return portions.map((p) => {
            const high = (h[p.key] / most) * height;
            top -= high;
            return (
              <rect
                key={`${i} ${p.key}`}
                class={`portion is-${p.key}`}
                x={i * width + (gap * width) / 20}
                y={top}
                width={width - (gap * width) / 10}
                height={high}
              >
                <title>{hourWords(h, p)}</title>
              </rect>
            );
          });
        })}
      </svg>
      <p class="hours-axis" aria-hidden="true">
        {list
          .filter((_, i) => i % 6 === 0)
          .map((h) => (
            <span key={h.from}>{hourMinute(h.from)}</span>
          ))}
        <span>{list.length > 0 && hourMinute((list[list.length - 1]?.from ?? 0) + 3_600_000)}</span>
      </p>
      <ul class="reading-legend" aria-label="Intervals by state">
        {sums
          .filter((s) => s.n > 0)
          .map((s) => (
            <li key={s.key}>
              <span class={`swatch is-${s.key}`} aria-hidden="true" /> {count(s.n)} {s.name}
            </li>
          ))}
      </ul>
    </section>
  );
}

const hourWords = (h: ReturnType<typeof hoursOf>[number], p: Portion) =>
  `${hourMinute(h.from)}: ${count(h[p.key])} ${p.name} of ${count(h.expected)}`;

/** Which share of a day's readings came within which time. */
function ReadRate({ rated }: { rated: readonly Rated[] }) {
  return (
    <section class="card panel" aria-labelledby="rate-title">
      <h2 id="rate-title">Read rate</h2>
      <table class="metering-table read-rate">
        <thead>
          <tr>
            <th scope="col">Within</th>
            <th scope="col">Came</th>
            <th scope="col" class="unseen-head">
              <span class="unseen">Share</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {rated.map((r) => (
            <tr key={r.within}>
              <th scope="row">{r.within}</th>
              <td class="number">{share(r.readings, r.expected)}</td>
              <td class="rate-cell" aria-hidden="true">
                <span class="rate-bar" style={{ width: `${(100 * r.readings) / r.expected}%` }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p class="quiet">Of the intervals of the day, after the end of each.</p>
    </section>
  );
}
