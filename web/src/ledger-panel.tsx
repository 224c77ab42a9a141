import type { Ledger, Origin } from "./api";
import { count, plural } from "./format";
import { isComplete } from "./health";

/** The proof: for each origin, produced = acknowledged = stored, with a tick or with what is missing. */
export function LedgerPanel({ ledger }: { ledger: Ledger }) {
  const origins = ledger.origins ?? [];
  const gaps = ledger.gaps ?? [];
  const damaged = ledger.damaged ?? [];
  return (
    <section class="card" aria-labelledby="ledger-title">
      <h2 id="ledger-title">Loss ledger</h2>
      {ledger.reason && <p class="problem">{ledger.reason}</p>}
      <div class="scroll-x">
        <table class="ledger">
          <thead>
            <tr>
              <th scope="col">Origin</th>
              <th scope="col" class="number">
                produced
              </th>
              <th scope="col" class="number">
                acknowledged
              </th>
              <th scope="col" class="number">
                stored
              </th>
              <th scope="col">
                <span class="unseen">balance</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {origins.map((o) => (
              <OriginRow key={o.origin} origin={o} />
            ))}
          </tbody>
        </table>
      </div>
      {origins.map((o) =>
        notes(o).map((note) => (
          <p key={o.origin + note} class="quiet">
            {note}
          </p>
        )),
      )}
      {gaps.slice(0, 5).map((g, i) => (
        <p key={i} class="problem">
          {g.origin}: {plural(g.samples, "sample")} missing ({g.reason})
        </p>
      ))}
      {damaged.slice(0, 5).map((d) => (
        <p key={d.file} class="problem">
          {d.file} cannot be read: {d.reason}. The rest is served.
        </p>
      ))}
      {origins.length > 0 && isComplete(ledger) && (
        <p class="quiet">Every sample produced is on disk, or on its way there.</p>
      )}
    </section>
  );
}

function OriginRow({ origin }: { origin: Origin }) {
  const well = origin.balanced && origin.missing === 0 && origin.refused === 0;
  return (
    <tr class={well ? "is-good" : "is-bad"}>
      <th scope="row" title={origin.origin}>
        {origin.origin}
      </th>
      <td class="number">{count(origin.produced)}</td>
      <td class="number">{equal(origin.produced, origin.acknowledged)}</td>
      <td class="number">{equal(origin.acknowledged, origin.stored)}</td>
      <td class="tick">
        <span aria-hidden="true">{well ? "✓" : "✗"}</span>
        <span class="unseen">{well ? "balanced" : "not balanced"}</span>
      </td>
    </tr>
  );
}

/** A figure with the sign between it and the one before. */
const equal = (before: number, n: number) => `${before === n ? "=" : "≠"} ${count(n)}`;

function notes(o: Origin): string[] {
  const found: string[] = [];
  if (o.backlog_samples > 0)
    found.push(`${plural(o.backlog_samples, "sample")} on the way into the store`);
  if (o.missing > 0) found.push(`${plural(o.missing, "sample")} lost`);
  if (o.refused > 0)
    found.push(`${plural(o.refused, "sample")} refused because they could not be recorded`);
  if (o.repeated > 0) found.push(`${plural(o.repeated, "repeat")} dropped`);
  return found.map((text) => `${o.origin}: ${text}`);
}
