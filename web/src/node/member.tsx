import { useState } from "preact/hooks";
import { type Line, linesOf, sentence } from "../agent/grant";
import { GrantForm } from "../agent/grant-form";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { dateTime, plain, plural } from "../format";
import type { Child, Grants } from "../generated/api";
import { reasonOf } from "../language/said";
import { includes } from "../shell/role";
import { confine, regrant } from "./calls";
import { Ends } from "./ends";
import { Fingerprint } from "./fingerprint";

interface Props {
  api: Api;
  role: string;
  child: Child;
  onChanged(): void;
}

/** How a node directly below is joined with this one, what it may do here, and how to end it. */
export function Member({ api, role, child: c, onChanged }: Props) {
  const act = useAct();
  const [place, setPlace] = useState<string>();
  const may = includes(role, "administrator");
  const change = async (work: () => Promise<unknown>) => {
    const done = await act.perform(work);
    onChanged();
    return done;
  };
  return (
    <section class="card panel" aria-labelledby="member-title">
      <h2 id="member-title">Membership</h2>
      <Facts child={c} />
      {c.refusal && <p class="problem">{reasonOf(c.refusal)}</p>}
      {c.state === "pending" && (
        <p>
          It is not approved yet. <a href="/nodes/join">Compare its key, and approve or deny it</a>
        </p>
      )}
      <Fingerprint label="Its key" of={c.fingerprint} />
      <h2>{rightsTitle(c)}</h2>
      <Rights api={api} child={c} may={may} onChange={change} />
      <p role="alert" class="problem">
        {plain(act.problem)}
      </p>
      {may && (
        <>
          <details>
            <summary>Grant more</summary>
            <GrantForm
              without="hold"
              onGrant={(grant: Grants) => regrant(api, c.name, { grant })}
              onGranted={onChanged}
            />
          </details>
          <form
            class="node-place"
            aria-label="Place of its points"
            onSubmit={(e) => {
              e.preventDefault();
              const to = (place ?? c.prefix).trim();
              void change(() => confine(api, c.name, to)).then((done) => {
                if (done) setPlace(undefined);
              });
            }}
          >
            <label>
              Its points lie below
              <input
                type="text"
                maxLength={512}
                spellcheck={false}
                autocapitalize="off"
                placeholder="anywhere"
                value={place ?? c.prefix}
                onInput={(e) => setPlace(e.currentTarget.value)}
              />
            </label>
            <button type="submit" disabled={act.busy || (place ?? c.prefix).trim() === c.prefix}>
              Confine it there
            </button>
          </form>
          <Ends api={api} child={c} onChanged={onChanged} />
        </>
      )}
    </section>
  );
}

/** What is allowed to a node holds as long as it is let in. */
function rightsTitle({ state }: Child): string {
  if (state === "pending") return "Rights here after approval";
  return state === "revoked" ? "Rights here if it is approved again" : "Rights here";
}

/** Who decided about a node. */
const decidedBy = ({ by, state }: Child) =>
  plain(by) || (state === "pending" ? "nobody yet" : "nobody had to");

/** Until when the bundle of a node that never came can be used. */
function bundleFact(c: Child): [string, string][] {
  if (!c.expires) return [];
  const end = dateTime(Date.parse(c.expires));
  return [
    [
      "Its bundle, not used yet,",
      c.state === "expired" ? `expired ${end}` : `can be used until ${end}`,
    ],
  ];
}

function Facts({ child: c }: { child: Child }) {
  const facts: [string, string][] = [
    ["Joined", dateTime(Date.parse(c.joined))],
    ["Its points lie below", plain(c.prefix) || "anywhere"],
    ["Keys it has had", String(c.keys)],
    ...bundleFact(c),
    ["Approved or revoked by", decidedBy(c)],
    ["Connected from", c.online ? plain(c.online.address) : "–"],
    ["Connected since", c.online ? dateTime(Date.parse(c.online.since)) : "–"],
  ];
  return (
    <dl class="agent-facts node-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt class="quiet">{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

interface RightsProps {
  api: Api;
  child: Child;
  may: boolean;
  onChange(work: () => Promise<unknown>): Promise<boolean>;
}

function Rights({ child: c, may, onChange, api }: RightsProps) {
  const withdraw = (line: Line) => {
    if (!confirm(`Withdraw, at once: ${plain(c.name)} ${sentence(line)}?`)) return;
    void onChange(() => regrant(api, c.name, { withdraw: line.grants }));
  };
  const lines = linesOf(c.grants);
  return (
    <>
      <ul class="agent-lines" aria-label="Rights">
        <li>may send its own data{c.prefix ? `, below ${plain(c.prefix)}` : ""}</li>
        {lines.map((l, i) => (
          <li key={i}>
            {sentence(l)}
            {may && (
              <button
                type="button"
                aria-label={`Withdraw: ${sentence(l)}`}
                onClick={() => withdraw(l)}
              >
                Withdraw
              </button>
            )}
          </li>
        ))}
      </ul>
      <p class="quiet">
        {lines.length === 0 ? "Nothing else." : `${plural(lines.length, "right")} besides that.`}{" "}
        What this node may do there stands in <code>uplink.allow</code> of its configuration.
      </p>
    </>
  );
}
