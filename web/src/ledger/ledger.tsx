import type { Damage, Ledger, LedgerNode, Log, Origin } from "../api";
import { bytes, count, dateTime, localTimes, plain, plural } from "../format";
import { reasonOf } from "../language/said";
import { Outages } from "../node/outages";
import { useFleet, useLedger } from "../node/use-fleet";
import type { ScreenProps } from "../shell/screens";
import { Chains } from "./chains";
import { Destinations } from "./destinations";
import { gapsOf, type KnownGap } from "./gaps";
import { NodeHeat } from "./heat";
import { Believe, Catching, levelOf, useCourse } from "./subtree";
import { follows, inMemory, meaningOf, sentence } from "./words";
import "../style/data-table.css";
import "../node/nodes.css";
import "./ledger.css";

/** The account of every sample: what was produced, acknowledged, stored, and what became of the rest. */
export function LedgerScreen({ api, books, problem, epoch }: ScreenProps) {
  const { data: told } = useLedger(api);
  const { data: known } = useFleet(api);
  const course = useCourse(told?.sum);
  const ledger = told ?? books?.ledger;
  if (!ledger) return <p class="asking">{problem || "Asking the node for its books…"}</p>;
  const nodes = ledger.nodes ?? [];
  const { sum } = ledger;
  const fleet = known?.nodes ?? [];
  const isTree = nodes.length > 1 && sum !== undefined;
  const { level, text } =
    isTree && !ledger.reason
      ? { level: levelOf(sum), text: localTimes(plain(ledger.sentence ?? "")) }
      : sentence(ledger);
  return (
    <div class="screen">
      <h1>Ledger</h1>
      <div class={`card ledger-word is-${level}`}>
        <span class="dot" aria-hidden="true" />
        <p role="status" aria-label="Account">
          {text}
        </p>
        {isTree && <Catching sum={sum} course={course} />}
      </div>
      {isTree && <Outages nodes={fleet} now={api.now()} most={3} linked />}
      {isTree && <Believe sum={sum} nodes={nodes} />}
      {(isTree || hasAbove(nodes)) && <Chains nodes={nodes} now={api.now()} />}
      {isTree && <NodeHeat api={api} epoch={epoch} nodes={nodes} />}
      <Origins origins={ledger.origins ?? []} />
      <Destinations api={api} epoch={epoch} />
      <Gaps gaps={gapsIn(ledger)} named={isTree} />
      <div class="ledger-pair">
        {ledger.log && <LogPanel log={ledger.log} />}
        <Damages damaged={ledger.damaged ?? []} />
      </div>
      <HowToRead ledger={ledger} />
    </div>
  );
}

const hasAbove = (nodes: readonly LedgerNode[]) =>
  nodes.some((n) => (n.origins ?? []).some((o) => o.above !== undefined));

/** The gaps of all nodes, or, of a node that tells only its own, those. */
const gapsIn = ({ nodes, gaps }: Ledger): KnownGap[] =>
  nodes && nodes.length > 0 ? gapsOf(nodes) : (gaps ?? []).map((g) => ({ ...g, nodes: [] }));

const columns = ["Produced", "Acknowledged", "Stored", "On the way", "Refused", "Lost", "Repeats"];
const mostRows = 200;

function Origins({ origins }: { origins: readonly Origin[] }) {
  return (
    <section class="card panel" aria-labelledby="origins-title">
      <h2 id="origins-title">Samples by origin, at this node</h2>
      {origins.length === 0 && <p class="quiet">Nothing was recorded yet.</p>}
      {origins.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section class="scroll-x" tabIndex={0} aria-label="Account of each origin">
          <table class="data-table">
            <thead>
              <tr>
                <th scope="col">Origin</th>
                {columns.map((c) => (
                  <th key={c} scope="col" class="number">
                    {c}
                  </th>
                ))}
                <th scope="col">Verdict</th>
              </tr>
            </thead>
            <tbody>
              {origins.slice(0, mostRows).map((o) => (
                <OriginRow key={o.origin} origin={o} />
              ))}
            </tbody>
          </table>
        </section>
      )}
      {origins.length > mostRows && (
        <p class="quiet">… and {count(origins.length - mostRows)} more.</p>
      )}
    </section>
  );
}

function OriginRow({ origin: o }: { origin: Origin }) {
  const well = follows(o);
  const memory = inMemory(o);
  const verdict = !o.balanced ? "not balanced" : o.missing > 0 ? "balanced, with loss" : "balanced";
  return (
    <tr>
      <th scope="row">{plain(o.origin)}</th>
      <td class="number">{count(o.produced)}</td>
      <Follows sign={well.acknowledged} n={o.acknowledged} more={memory} of="in memory" />
      <Follows sign={well.stored} n={o.stored} more={o.backlog_samples} of="on the way" />
      <td class="number">{count(o.backlog_samples + memory)}</td>
      <td class={`number${o.refused > 0 ? " is-bad" : ""}`}>{count(o.refused)}</td>
      <td class={`number${o.missing > 0 ? " is-bad" : ""}`}>{count(o.missing)}</td>
      <td class="number quiet">{count(o.repeated)}</td>
      <td>
        <span class={o.balanced && o.missing === 0 ? "good" : "bad"}>
          {o.balanced && o.missing === 0 ? "✓" : "✗"} {verdict}
        </span>
      </td>
    </tr>
  );
}

interface FollowsProps {
  /** Whether the figure follows from the one before it. */
  sign: boolean;
  n: number;
  /** What is not in it yet, and where it is. */
  more: number;
  of: string;
}

function Follows({ sign, n, more, of }: FollowsProps) {
  return (
    <td class="number" title={more > 0 ? `and ${plural(more, "sample")} ${of}` : undefined}>
      <span class={sign ? "good" : "bad"}>{sign ? "=" : "≠"}</span> {count(n)}
    </td>
  );
}

const mostGaps = 100;

function Gaps({ gaps, named }: { gaps: readonly KnownGap[]; named: boolean }) {
  return (
    <section class="card panel" aria-labelledby="gaps-title">
      <h2 id="gaps-title">Gaps</h2>
      {gaps.length === 0 && <p class="quiet">None: no block is missing.</p>}
      {gaps.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        <section class="scroll-x" tabIndex={0} aria-label="Missing blocks">
          <table class="data-table">
            <thead>
              <tr>
                <th scope="col">Origin</th>
                <th scope="col">Blocks</th>
                <th scope="col" class="number">
                  Samples
                </th>
                <th scope="col">Noticed</th>
                {named && <th scope="col">Known at</th>}
                <th scope="col">Reason</th>
              </tr>
            </thead>
            <tbody>
              {gaps.slice(0, mostGaps).map((g) => (
                <tr key={`${g.origin} ${g.first}`}>
                  <th scope="row">{plain(g.origin)}</th>
                  <td>
                    {g.first === g.last ? count(g.first) : `${count(g.first)} to ${count(g.last)}`}
                  </td>
                  <td class="number is-bad">{count(g.samples)}</td>
                  <td>{dateTime(Date.parse(g.noticed))}</td>
                  {named && <td>{g.nodes.map(plain).join(", ")}</td>}
                  <td>
                    <strong>{reasonOf(g.reason)}</strong>{" "}
                    <span class="quiet">{meaningOf(g.reason)}</span>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </section>
      )}
      {gaps.length > mostGaps && <p class="quiet">… and {count(gaps.length - mostGaps)} more.</p>}
    </section>
  );
}

function LogPanel({ log }: { log: Log }) {
  const share = log.max_bytes > 0 ? log.bytes / log.max_bytes : 0;
  return (
    <section class="card panel" aria-labelledby="log-title">
      <h2 id="log-title">Log</h2>
      <meter aria-labelledby="log-title" min={0} max={1} high={0.9} optimum={0} value={share}>
        {Math.round(share * 100)} %
      </meter>
      <p>
        {bytes(log.bytes)} in {plural(log.blocks, "block")}, of at most {bytes(log.max_bytes)}.
      </p>
      <p class="quiet">
        {log.dropped_samples > 0
          ? `${plural(log.dropped_samples, "sample")} in ${plural(log.dropped_blocks, "block")} made room for newer ones. Those that were stored before are in the history all the same.`
          : "Nothing had to make room for newer samples."}
      </p>
    </section>
  );
}

function Damages({ damaged }: { damaged: readonly Damage[] }) {
  return (
    <section class="card panel" aria-labelledby="damage-title">
      <h2 id="damage-title">Damage</h2>
      {damaged.length === 0 && <p class="quiet">None: every file of the history can be read.</p>}
      {damaged.slice(0, mostGaps).map((d) => (
        <p key={d.file} class="problem">
          <strong>{plain(d.file)}</strong>
          {d.from && d.to && `, ${dateTime(Date.parse(d.from))} to ${dateTime(Date.parse(d.to))}`}:{" "}
          {reasonOf(d.reason)}{" "}
          <span class="quiet">Noticed {dateTime(Date.parse(d.noticed))}. The rest is served.</span>
        </p>
      ))}
    </section>
  );
}

function HowToRead({ ledger }: { ledger: Ledger }) {
  const several = (ledger.origins?.length ?? 0) > 1;
  return (
    <section class="card panel ledger-how" aria-labelledby="how-title">
      <h2 id="how-title">How to read it</h2>
      <dl>
        <dt>Produced = acknowledged + refused + in memory</dt>
        <dd>
          A sample is acknowledged when it is on disk, in the log. Until then it is in the memory of
          the recorder for a few milliseconds, or it is refused and who sent it knows.
        </dd>
        <dt>Acknowledged = stored + lost + on the way</dt>
        <dd>
          The history takes its samples from the log. What it does not have yet is on the way and
          safe.
        </dd>
        <dt>Lost</dt>
        <dd>
          Every block has a number and says how many samples came before it. If number 9 follows 6,
          it is known how many samples were in 7 and 8, although nobody has seen them: a gap, which
          stays here for good.
        </dd>
        <dt>Repeats</dt>
        <dd>
          Blocks that came twice because an answer was lost on the way. They are dropped, and each
          sample stands once in the history.
        </dd>
        {several && (
          <>
            <dt>Origin</dt>
            <dd>
              The node that produced the samples; a block keeps its origin on its way through
              others.
            </dd>
          </>
        )}
      </dl>
    </section>
  );
}
