import { useCallback, useState } from "preact/hooks";
import { plain } from "../format";
import type { CallResult, Methods as Offer, Method as Offered } from "../generated/api";
import { includes } from "../shell/role";
import { usePoll, wordsOf } from "../use-poll";
import { argumentsOf, isRest } from "./argument";
import type { PartProps } from "./page";

/** What the agent offers to others, and a way to call it. */
export function Methods({ api, name, role, epoch }: PartProps) {
  const at = `agents/${encodeURIComponent(name)}`;
  const ask = useCallback(async () => (await api.get<Offer>(`${at}/methods`)).methods, [api, at]);
  const { data: methods, problem } = usePoll(ask, 30_000, epoch);
  return (
    <section class="card panel" aria-labelledby="methods-title">
      <h2 id="methods-title">Methods</h2>
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      {!methods && !problem && <p class="asking">Asking the agent…</p>}
      {methods && includes(role, "operator") && (
        <p class="quiet">
          Calls are made in the name of the node, which may all, and noted in the audit log.
        </p>
      )}
      <ul class="agent-methods" aria-label="Methods">
        {(methods ?? []).map((m) => (
          <li key={m.name}>
            <Method api={api} at={at} method={m} mayCall={includes(role, "operator")} />
          </li>
        ))}
      </ul>
    </section>
  );
}

interface MethodProps {
  api: PartProps["api"];
  at: string;
  method: Offered;
  mayCall: boolean;
}

function Method({ api, at, method: m, mayCall }: MethodProps) {
  const [typed, setTyped] = useState<Readonly<Record<string, string>>>({});
  const [busy, setBusy] = useState(false);
  const [reply, setReply] = useState<CallResult>();
  const [problem, setProblem] = useState("");
  const call = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setReply(undefined);
    try {
      const body = { method: m.name, ...argumentsOf(m.params, typed) };
      setReply(await api.send<CallResult>("POST", `${at}/call`, body));
      setProblem("");
    } catch (err) {
      setProblem(wordsOf(err));
    }
    setBusy(false);
  };
  const label = plain(m.name);
  return (
    <details>
      <summary>
        <code>{signature(m)}</code> <span class="quiet">{plain(firstLine(m.doc))}</span>
      </summary>
      {m.doc.includes("\n") && <p class="agent-doc">{plain(m.doc)}</p>}
      {m.needs && m.needs.length > 0 && (
        <p class="quiet">Agents that call it must hold {m.needs.map(plain).join(" and ")}.</p>
      )}
      {mayCall && (
        <form class="agent-form" aria-label={`Call ${label}`} onSubmit={(e) => void call(e)}>
          {m.params
            .filter((p) => !isRest(p))
            .map((p) => (
              <label key={p.name}>
                {plain(p.name)}
                <input
                  type="text"
                  spellcheck={false}
                  autocapitalize="off"
                  placeholder={p.default === undefined ? "" : JSON.stringify(p.default)}
                  value={typed[p.name] ?? ""}
                  onInput={(e) => setTyped({ ...typed, [p.name]: e.currentTarget.value })}
                />
                <span class="quiet">{plain(p.type)}</span>
              </label>
            ))}
          <p class="actions">
            <button type="submit" disabled={busy}>
              {busy ? "Calling…" : `Call ${label}`}
            </button>
          </p>
        </form>
      )}
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      {reply && (
        <pre class="agent-answer" role="status" aria-label={`Answer of ${label}`}>
          {plain(JSON.stringify(reply.result ?? null, null, 2))}
        </pre>
      )}
    </details>
  );
}

const firstLine = (doc: string) => doc.split("\n", 1)[0] ?? "";

/** The method as people write it: "limit(device, limit = 15) → str". */
function signature(m: Offered): string {
  const params = m.params.map(
    (p) =>
      (isRest(p) ? "…" : "") +
      p.name +
      (p.default === undefined ? "" : ` = ${JSON.stringify(p.default)}`),
  );
  return plain(`${m.name}(${params.join(", ")})${m.result ? ` → ${m.result}` : ""}`);
}
