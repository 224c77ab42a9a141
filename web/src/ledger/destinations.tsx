import { useCallback } from "preact/hooks";
import { type Api, Problem } from "../api";
import { accountWords } from "../destination/words";
import { count, plain } from "../format";
import type { AllSinks, SinkState } from "../generated/api";
import { destinationAddress } from "../shell/place";
import { usePoll } from "../use-poll";

const often = 5_000;
const none: AllSinks = { sinks: [] };

const columns = [
  "Acknowledged",
  "Sent",
  "Left out",
  "Refused",
  "Withheld",
  "Dropped by the log",
  "Waiting",
] as const;

/** The account of each destination of readings: what it was offered, and what became of it. */
export function Destinations({ api, epoch }: { api: Api; epoch: number }) {
  const ask = useCallback(
    () =>
      api.get<AllSinks>("sinks").catch((err) => {
        if (err instanceof Problem) return none; // an older node, or one that sends nothing
        throw err;
      }),
    [api],
  );
  const { data } = usePoll(ask, often, epoch);
  if (!data || data.sinks.length === 0) return null;
  return (
    <section class="card panel" aria-labelledby="destinations-title">
      <h2 id="destinations-title">Destinations</h2>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label="Account of each destination">
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">Destination</th>
              {columns.map((c) => (
                <th key={c} scope="col" class="number">
                  {c}
                </th>
              ))}
              <th scope="col">Verdict</th>
            </tr>
          </thead>
          <tbody>
            {data.sinks.map((s) => (
              <Row key={s.name} sink={s} />
            ))}
          </tbody>
        </table>
      </section>
      <p class="quiet">
        Acknowledged = sent + left out + refused + withheld + dropped by the log + waiting, of the
        samples since the destination was added.
      </p>
    </section>
  );
}

function Row({ sink: s }: { sink: SinkState }) {
  const lacks = s.refused - s.accepted + s.missing;
  const isWell = s.balanced && lacks === 0;
  const verdict = !s.balanced ? "not balanced" : lacks > 0 ? "balanced, with loss" : "balanced";
  return (
    <tr title={accountWords(s)}>
      <th scope="row">
        <a class="link" href={destinationAddress(s.name)}>
          {plain(s.name)}
        </a>
      </th>
      <td class="number">{count(s.acknowledged)}</td>
      <td class="number">{count(s.sent)}</td>
      <td class="number quiet">{count(s.left_out)}</td>
      <td class={`number${s.refused > s.accepted ? " is-bad" : ""}`}>{count(s.refused)}</td>
      <td class={`number${s.withheld_kept > 0 ? " is-bad" : ""}`}>{count(s.withheld)}</td>
      <td class={`number${s.missing > 0 ? " is-bad" : ""}`}>{count(s.missing)}</td>
      <td class="number">{count(s.waiting_samples)}</td>
      <td>
        <span class={isWell ? "good" : "bad"}>
          {isWell ? "✓" : "✗"} {verdict}
        </span>
      </td>
    </tr>
  );
}
