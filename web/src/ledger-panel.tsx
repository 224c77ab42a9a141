import type { Ledger, Origin } from "./api";
import { bytes, count, plain, plural } from "./format";
import { isComplete } from "./health";
import { reasonOf } from "./language/said";

/** The proof: for each origin, produced = acknowledged = stored, with a tick or with what is missing. */
export function LedgerPanel({ ledger }: { ledger: Ledger }) {
  const origins = ledger.origins ?? [];
  const gaps = ledger.gaps ?? [];
  const damaged = ledger.damaged ?? [];
  return (
    <section class="card" aria-labelledby="ledger-title">
      <h2 id="ledger-title">Loss ledger</h2>
      {ledger.reason && <p class="problem">{reasonOf(ledger.reason)}</p>}
      <ul class="origins">
        {origins.map((o) => (
          <OriginItem key={o.origin} origin={o} />
        ))}
      </ul>
      {gaps.slice(0, 5).map((g, i) => (
        <p key={i} class="problem">
          {plain(g.origin)}: {plural(g.samples, "sample")} missing ({reasonOf(g.reason)})
        </p>
      ))}
      {damaged.slice(0, 5).map((d) => (
        <p key={d.file} class="problem">
          {plain(d.file)} cannot be read: {reasonOf(d.reason)}. The rest is served.
        </p>
      ))}
      {(ledger.overwritten ?? 0) > 0 && (
        <p class="problem">
          {plural(ledger.overwritten ?? 0, "sample")} overwritten by another value with the same
          point and time.
        </p>
      )}
      {origins.length > 0 && isComplete(ledger) && (
        <p class="quiet">Nothing is lost: every sample produced is on disk.</p>
      )}
      {ledger.log && (
        <p class="quiet">
          The log holds {bytes(ledger.log.bytes)} of at most {bytes(ledger.log.max_bytes)}.
        </p>
      )}
    </section>
  );
}

function OriginItem({ origin }: { origin: Origin }) {
  const well = origin.balanced && origin.missing === 0 && origin.refused === 0;
  return (
    <li class={well ? "is-good" : "is-bad"}>
      <p class="origin-head">
        <strong>{plain(origin.origin)}</strong>
        <span class="tick">{well ? "✓ balanced" : "✗ not balanced"}</span>
      </p>
      <dl class="chain">
        <Stage name="produced" n={origin.produced} />
        <Stage name="acknowledged" n={origin.acknowledged} before={origin.produced} />
        <Stage
          name="stored"
          n={origin.stored}
          before={origin.acknowledged}
          underWay={origin.backlog_samples}
        />
      </dl>
      {notes(origin).map((note) => (
        <p key={note} class="quiet">
          {note}
        </p>
      ))}
    </li>
  );
}

interface StageProps {
  name: string;
  n: number;
  /** The figure of the stage before. */
  before?: number;
  /** Samples that are safe and will be counted here in a moment. */
  underWay?: number;
}

/** A figure, with the sign between it and the one before. */
function Stage({ name, n, before, underWay = 0 }: StageProps) {
  const sign = before === undefined ? "" : before === n + underWay ? "= " : "≠ ";
  return (
    <div>
      <dt class="quiet">{name}</dt>
      <dd>
        {sign}
        {count(n)}
        {underWay > 0 && <span class="quiet"> + {count(underWay)}</span>}
      </dd>
    </div>
  );
}

/** What explains a difference between the figures. */
function notes(o: Origin): string[] {
  const found: string[] = [];
  if (o.backlog_samples > 0) {
    found.push(`${plural(o.backlog_samples, "sample")} in the log, on the way into the store`);
  }
  if (o.missing > 0) found.push(`${plural(o.missing, "sample")} lost`);
  if (o.refused > 0)
    found.push(`${plural(o.refused, "sample")} refused because they could not be recorded`);
  if (o.repeated > 0) found.push(`${plural(o.repeated, "repeat")} dropped`);
  return found;
}
