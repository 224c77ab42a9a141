import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { bytes, count, dateTime, plain, span } from "../format";
import type { Parent, Uplink } from "../generated/api";
import { fixed } from "../language/number";
import { reasonOf } from "../language/said";
import { includes } from "../shell/role";
import { usePoll } from "../use-poll";
import { aboveOf, behindOf, clockWords } from "./above";
import { leave, parent, rotate } from "./calls";
import { Fingerprint } from "./fingerprint";
import { JoinForm } from "./join-form";
import { LiveCost } from "./live-cost";

interface Props {
  api: Api;
  role: string;
  epoch: number;
}

const every = 2000;

/** The parent: how this one stands with it, what goes up, and how to join or leave it. */
export function AbovePart({ api, role, epoch }: Props) {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => parent(api), [api]);
  const { data, problem } = usePoll(ask, every, epoch + changes);
  const again = () => setChanges((n) => n + 1);
  if (!data) return <p class="asking">{plain(problem) || "Asking about the parent…"}</p>;
  const shared = { api, may: includes(role, "administrator"), onChanged: again };
  return (
    <>
      {problem && <p class="problem">{plain(problem)}</p>}
      {data.member ? <Member {...shared} parent={data} /> : <JoinForm {...shared} />}
    </>
  );
}

/** What concerns the parent is given. */
export interface PartProps {
  api: Api;
  /** Whether who looks may change it. */
  may: boolean;
  onChanged(): void;
}

function Member({ api, may, onChanged, parent: p }: PartProps & { parent: Parent }) {
  const now = api.now();
  const above = aboveOf(p, now);
  return (
    <>
      <div class={`card node-word is-${above.level}`} role="status" aria-label="Parent">
        <p>
          <span class="dot" aria-hidden="true" /> {above.text}
        </p>
        {above.advice && <p class="quiet">{above.advice}</p>}
        <p>
          <a href="/ledger">See in the ledger that nothing is lost</a>
        </p>
      </div>
      {p.uplink && <Traffic uplink={p.uplink} now={now} />}
      <section class="card panel" aria-labelledby="member-title">
        <h2 id="member-title">Identities</h2>
        <dl class="agent-facts node-facts">
          <Fact name="Parent">{plain(p.parent) || "–"}</Fact>
          <Fact name="It calls this node">{plain(p.name)}</Fact>
          <Fact name="Points of this node lie there below">{plain(p.prefix) || "any path"}</Fact>
          <Fact name="Addresses">{p.addresses.map(plain).join(", ")}</Fact>
          <Fact name="Joined">{p.joined ? dateTime(Date.parse(p.joined)) : "–"}</Fact>
        </dl>
        <Fingerprint label="Key of this node" of={p.key_fingerprint} />
        <Fingerprint label="Authority of the parent" of={p.fingerprint} />
        {may && <Ways api={api} parent={p} onChanged={onChanged} />}
      </section>
    </>
  );
}

const Fact = ({ name, children }: { name: string; children: string }) => (
  <div>
    <dt class="quiet">{name}</dt>
    <dd>{children}</dd>
  </div>
);

function Traffic({ uplink: u, now }: { uplink: Uplink; now: number }) {
  const behind = behindOf(u, now);
  const sent = u.lanes.reduce((sum, l) => sum + l.sent, 0);
  return (
    <section class="card panel" aria-labelledby="traffic-title">
      <h2 id="traffic-title">What goes up</h2>
      <dl class="agent-facts node-facts">
        <Fact name="Blocks that wait">{count(u.waiting)}</Fact>
        <Fact name="Oldest of them">{behind > 0 ? span(behind) : "–"}</Fact>
        <Fact name="Round trip">{u.state === "connected" ? `${fixed(u.rtt_ms, 1)} ms` : "–"}</Fact>
        <Fact name="Clocks">{u.state === "connected" ? clockWords(u.offset_ms) : "–"}</Fact>
        <Fact name="Sent since the start">{bytes(sent)}</Fact>
      </dl>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="scroll-x" tabIndex={0} aria-label="What goes up, by origin">
        <table class="data-table">
          <thead>
            <tr>
              <th scope="col">Origin</th>
              {["The parent has", "Left out", "Sent twice", "Lost before it was sent"].map((c) => (
                <th key={c} scope="col" class="number">
                  {c}
                </th>
              ))}
              <th scope="col">Taken</th>
            </tr>
          </thead>
          <tbody>
            {u.origins.map((o) => (
              <tr key={o.origin}>
                <th scope="row">{plain(o.origin)}</th>
                <td class="number">{count(o.samples)}</td>
                <td class="number quiet">{count(o.left)}</td>
                <td class="number quiet">{count(o.repeated)}</td>
                <td class={`number${o.dropped > 0 ? " is-bad" : ""}`}>{count(o.dropped)}</td>
                <td class={o.reason ? "is-bad" : ""}>{o.reason ? reasonOf(o.reason) : "yes"}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {u.live && <LiveCost link={u.live} />}
      <p class="quiet">
        Figures are of samples. What is left out is by <code>uplink.select</code> of the
        configuration; a sample that is sent twice, since an answer was lost, is stored once.
      </p>
    </section>
  );
}

function Ways({
  api,
  parent: p,
  onChanged,
}: Pick<PartProps, "api" | "onChanged"> & { parent: Parent }) {
  const act = useAct();
  const [told, setTold] = useState("");
  const perform = async (question: string, work: () => Promise<unknown>, done: string) => {
    if (!confirm(question)) return;
    setTold("");
    if (await act.perform(work)) setTold(done);
    onChanged();
  };
  const name = plain(p.parent) || "the parent";
  return (
    <>
      <p class="actions">
        <button
          type="button"
          disabled={act.busy}
          onClick={() =>
            void perform(
              `Take a new key? ${name} must be connected; it refuses the old key from then on.`,
              () => rotate(api),
              "This node has a new key.",
            )
          }
        >
          Take a new key
        </button>
        <button
          type="button"
          class="danger"
          disabled={act.busy}
          onClick={() =>
            void perform(
              `Leave ${name}? Nothing is sent any more; what it has stays there, and what was recorded here stays here. To come back this node needs a new code.`,
              () => leave(api),
              "",
            )
          }
        >
          Leave {name}
        </button>
        <span role="status" class="quiet">
          {told}
        </span>
      </p>
      <p role="alert" class="problem">
        {plain(act.problem)}
      </p>
    </>
  );
}
