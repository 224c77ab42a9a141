import { useState } from "preact/hooks";
import type { Api } from "../api";
import { Ask } from "../control/ask";
import { useAct } from "../control/use-act";
import { dateTime, plain, plural } from "../format";
import type { Child } from "../generated/api";
import { includes } from "../shell/role";
import { decide, type Verdict } from "./calls";
import { Fingerprint } from "./fingerprint";
import { placeWords } from "./words";

interface Props {
  api: Api;
  role: string;
  waiting: readonly Child[];
  onChanged(): void;
}

/** The nodes that want to come in, with what to compare before they may. */
export function Waiting({ api, role, waiting, onChanged }: Props) {
  const [asked, setAsked] = useState<{ child: Child; verdict: Verdict }>();
  const act = useAct();
  const may = includes(role, "administrator");
  const perform = async () => {
    if (!asked) return;
    const done = await act.perform(() => decide(api, asked.child.name, asked.verdict));
    if (done) setAsked(undefined);
    onChanged();
  };
  const ask = (child: Child, verdict: Verdict) => {
    act.forget();
    setAsked({ child, verdict });
  };
  return (
    <section class="card panel" aria-labelledby="waiting-title">
      <h2 id="waiting-title">
        {waiting.length === 0
          ? "No node waits for approval"
          : `${plural(waiting.length, "node")} wait${waiting.length === 1 ? "s" : ""} for approval`}
      </h2>
      {waiting.length > 0 && !may && <p class="quiet">An administrator can let nodes in.</p>}
      <ul class="node-waiting" aria-label="Nodes that wait">
        {waiting.map((c) => (
          <li key={c.name}>
            <div class="node-who">
              <p>
                <strong>{plain(c.name)}</strong>{" "}
                <span class="quiet">asks since {dateTime(Date.parse(c.joined))}</span>
              </p>
              <Fingerprint label="Its key" of={c.fingerprint} />
              <p class="quiet">
                {placeWords(c.prefix)} · version {plain(c.version) || "unknown"}
                {c.online ? ` · from ${plain(c.online.address)}` : " · not connected now"}
              </p>
            </div>
            {may && (
              <p class="actions">
                <button type="button" class="primary" onClick={() => ask(c, "approve")}>
                  Approve {plain(c.name)}…
                </button>
                <button type="button" onClick={() => ask(c, "deny")}>
                  Deny…
                </button>
              </p>
            )}
          </li>
        ))}
      </ul>
      {asked && (
        <Ask
          title={
            asked.verdict === "approve"
              ? `Let ${plain(asked.child.name)} in?`
              : `Keep ${plain(asked.child.name)} out?`
          }
          label={asked.verdict === "approve" ? "They are the same: let it in" : "Keep it out"}
          busy={act.busy}
          problem={plain(act.problem)}
          onDo={() => void perform()}
          onClose={() => setAsked(undefined)}
        >
          {asked.verdict === "approve" ? (
            <Compare child={asked.child} />
          ) : (
            <p>
              Its key is refused from then on, also when it comes back. Whoever runs it sees that it
              was shut out.
            </p>
          )}
        </Ask>
      )}
    </section>
  );
}

const Compare = ({ child }: { child: Child }) => (
  <>
    <p>
      Compare with what the other machine shows, on its screen <em>Parent</em> or by{" "}
      <code>voltbus uplink status</code>:
    </p>
    <Fingerprint label="Fingerprint" of={child.fingerprint} />
    <p>If they differ, somebody else used the code: deny, and make a new one.</p>
  </>
);
