import { Fragment } from "preact";
import type { LedgerNode } from "../api";
import { count, dateTime, plain, plural, span } from "../format";
import { nodeAddress } from "../shell/place";
import { type Chain, chainsOf, isUrgent, type Stop, verdictOf } from "./chain";

interface Props {
  nodes: readonly LedgerNode[];
  now: number;
  /** Only these origins; all without. */
  origins?: readonly string[];
}

const mostChains = 100;

/** The way of each origin, hop by hop, with the counts of the nodes on it. */
export function Chains({ nodes, now, origins }: Props) {
  const chains = chainsOf(nodes).filter((c) => origins?.includes(c.origin) ?? true);
  if (chains.length === 0) return null;
  return (
    <section class="card panel" aria-labelledby="chains-title">
      <h2 id="chains-title">From where it was produced to here</h2>
      <p class="quiet">
        Each node counts for itself what it has on its own disk. Where the counts agree, nothing was
        lost between them.
      </p>
      <ul class="chains" aria-label="The way of each origin">
        {chains.slice(0, mostChains).map((c) => (
          <Way key={c.origin} chain={c} now={now} />
        ))}
      </ul>
      {chains.length > mostChains && (
        <p class="quiet">
          … and {plural(chains.length - mostChains, "more origin")}, see the table.
        </p>
      )}
      <details>
        <summary>All counts as a table</summary>
        <Counts chains={chains} />
      </details>
    </section>
  );
}

function Way({ chain: c, now }: { chain: Chain; now: number }) {
  const verdict = verdictOf(c);
  return (
    <li class={`way-of is-${verdict.level}`}>
      <p class="way-head">
        <strong>{plain(c.origin)}</strong>
        {isUrgent(c.origin) && <span class="quiet">urgent lane</span>}
        <span class={`way-verdict is-${verdict.level}`}>
          <span aria-hidden="true">{verdict.mark}</span> {verdict.text}
        </span>
      </p>
      <ol class="way-stops" aria-label={`The way of ${plain(c.origin)}`}>
        {c.stops.map((s, i) => (
          <Fragment key={s.node.path.join("/")}>
            {i > 0 && <Link stop={s} before={c.stops[i - 1]} />}
            <StopBox stop={s} now={now} />
          </Fragment>
        ))}
        {c.above !== undefined && <AboveBox chain={c} above={c.above} />}
      </ol>
    </li>
  );
}

/** before is the stop that s gets its samples from. */
function Link({ stop: s, before }: { stop: Stop; before: Stop | undefined }) {
  const behind =
    before?.node.state === "old" ? "more came since it said so" : "asked a moment before";
  return (
    <li class="way-link">
      <span class="way-arrow" aria-hidden="true">
        →
      </span>{" "}
      {s.coming > 0 ? (
        <strong class="way-coming">{count(s.coming)} coming</strong>
      ) : (
        <span class="quiet">{s.isBehind ? behind : "the same"}</span>
      )}
    </li>
  );
}

function StopBox({ stop, now }: { stop: Stop; now: number }) {
  const { node, account: a } = stop;
  const name = plain(node.node);
  return (
    <li class={`way-stop is-${levelOf(node)}`}>
      <p class="way-name">
        <span class="dot" aria-hidden="true" />{" "}
        {node.path.length > 0 ? <a href={nodeAddress(node.node)}>{name}</a> : name}
        {node.path.length === 0 && <span class="quiet"> (here)</span>}
      </p>
      <p class="way-count">
        <strong>{count(a.acknowledged)}</strong>{" "}
        <span class="quiet">{a.own ? "recorded" : "received"}</span>
      </p>
      {sumWords(stop).map((line) => (
        <p key={line} class="way-sum">
          {line}
        </p>
      ))}
      {a.missing > 0 && <p class="way-sum is-bad">{count(a.missing)} lost</p>}
      {a.refused > 0 && <p class="way-sum is-bad">{count(a.refused)} refused at once</p>}
      {node.state === "old" && (
        <p class="quiet">
          as it said{" "}
          {node.as_of ? `${span(Math.max(0, now - Date.parse(node.as_of)))} ago` : "last"}
        </p>
      )}
    </li>
  );
}

const levelOf = (node: LedgerNode) => (node.state === "old" ? "warn" : "good");

/** Where what a stop has is. */
function sumWords({ node, account: a }: Stop): string[] {
  if (!node.stores) return ["on its disk, on the way up"];
  const lines = [`= ${count(a.stored)} in its history`];
  if (a.backlog_samples > 0) lines.push(`+ ${count(a.backlog_samples)} in its log`);
  if (a.left_out > 0) lines.push(`+ ${count(a.left_out)} left out on purpose`);
  return lines;
}

function AboveBox({ chain: c, above }: { chain: Chain; above: number }) {
  const coming = Math.max(0, (c.stops.at(-1)?.account.acknowledged ?? above) - above);
  return (
    <>
      <li class="way-link">
        <span class="way-arrow" aria-hidden="true">
          →
        </span>{" "}
        {coming > 0 ? (
          <strong class="way-coming">{count(coming)} to go</strong>
        ) : (
          <span class="quiet">the same</span>
        )}
      </li>
      <li class="way-stop is-good">
        <p class="way-name">
          <a href="/nodes/parent">Parent</a>
        </p>
        <p class="way-count">
          <strong>{count(above)}</strong> <span class="quiet">acknowledged by it</span>
        </p>
      </li>
    </>
  );
}

/** When a node said its counts: one that answers says them now. */
function saidWords({ state, as_of }: LedgerNode): string {
  if (state === "here" || state === "current") return "now";
  return as_of ? dateTime(Date.parse(as_of)) : "–";
}

const columns = ["On its disk", "In its history", "In its log", "Left out", "Lost", "Repeats"];

function Counts({ chains }: { chains: readonly Chain[] }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll-x" tabIndex={0} aria-label="Counts of each origin at each node">
      <table class="data-table">
        <thead>
          <tr>
            <th scope="col">Origin</th>
            <th scope="col">Node</th>
            {columns.map((c) => (
              <th key={c} scope="col" class="number">
                {c}
              </th>
            ))}
            <th scope="col">Said</th>
          </tr>
        </thead>
        <tbody>
          {chains.flatMap((c) =>
            c.stops.map(({ node, account: a }) => (
              <tr key={`${c.origin} ${node.path.join("/")}`}>
                <th scope="row">{plain(c.origin)}</th>
                <td>{plain(node.node)}</td>
                <td class="number">{count(a.acknowledged)}</td>
                <td class="number">{node.stores ? count(a.stored) : "–"}</td>
                <td class="number">{count(a.backlog_samples)}</td>
                <td class="number">{count(a.left_out)}</td>
                <td class={`number${a.missing > 0 ? " is-bad" : ""}`}>{count(a.missing)}</td>
                <td class="number quiet">{count(a.repeated)}</td>
                <td>{saidWords(node)}</td>
              </tr>
            )),
          )}
        </tbody>
      </table>
    </section>
  );
}
