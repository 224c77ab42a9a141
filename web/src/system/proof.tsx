import type { Ledger, Origin } from "../api";
import { count, plain } from "../format";

/** The proof in numbers: for each origin, produced = acknowledged = stored, and what explains a difference. */
export function Proof({ ledger }: { ledger: Ledger }) {
  const origins = ledger.origins ?? [];
  return (
    <section class="card panel" aria-labelledby="proof-title">
      <h2 id="proof-title">Loss, in numbers</h2>
      {origins.length === 0 ? (
        <p class="quiet">Nothing was recorded yet.</p>
      ) : (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section class="scroll-x" tabIndex={0} aria-label="Account of each origin">
          <table class="proof">
            <thead>
              <tr>
                <th scope="col">Origin</th>
                <th scope="col" class="number">
                  Produced
                </th>
                <th scope="col" class="number">
                  On disk
                </th>
                <th scope="col" class="number">
                  In the history
                </th>
                <th scope="col" class="number">
                  On the way
                </th>
                <th scope="col" class="number">
                  Lost
                </th>
              </tr>
            </thead>
            <tbody>
              {origins.slice(0, mostOrigins).map((o) => (
                <Line key={o.origin} origin={o} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      <p class="quiet">
        Blocks are numbered and know how many samples came before them, so that a loss is a number,
        not a guess. <a href="/ledger">The ledger</a> has all of it.
      </p>
    </section>
  );
}

const mostOrigins = 8;

function Line({ origin: o }: { origin: Origin }) {
  return (
    <tr class={o.missing > 0 ? "is-bad" : "is-good"}>
      <th scope="row">{plain(o.origin)}</th>
      <td class="number">{count(o.produced)}</td>
      <td class="number">{count(o.acknowledged)}</td>
      <td class="number">{count(o.stored)}</td>
      <td class="number">{count(o.backlog_samples)}</td>
      <td class="number">
        <span class="pill">{count(o.missing)}</span>
      </td>
    </tr>
  );
}
