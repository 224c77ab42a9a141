import { useCallback, useState } from "preact/hooks";
import { dateTime, plain } from "../format";
import type { Audit, Grants } from "../generated/api";
import { reasonOf } from "../language/said";
import { includes } from "../shell/role";
import { usePoll, wordsOf } from "../use-poll";
import { type Line, linesOf, missing, sentence } from "./grant";
import { GrantForm } from "./grant-form";
import type { PartProps } from "./page";
import type { Row } from "./row";

interface Props extends PartProps {
  row: Row;
  onChanged(): void;
}

/** What the agent may do, what it lacks, and what it was refused lately. */
export function Rights(props: Props) {
  const { api, name, role, row, epoch, onChanged } = props;
  const [problem, setProblem] = useState("");
  const mayGrant = includes(role, "administrator") && row.identity !== undefined;
  const grants = row.identity?.grants ?? {};
  const lines = linesOf(grants);
  const lacks = missing((row.process?.wants ?? {}) as Grants, grants);
  const at = `agents/${encodeURIComponent(name)}`;
  const change = async (asked: Promise<unknown>) => {
    try {
      await asked;
      setProblem("");
    } catch (err) {
      setProblem(wordsOf(err));
    }
    onChanged();
  };
  const regrant = (body: { grant?: Grants; withdraw?: Grants }) =>
    api.send("PATCH", `${at}/grants`, body);
  const withdraw = (line: Line) => {
    if (!confirm(`Withdraw, at once: ${name} ${sentence(line)}?`)) return;
    void change(regrant({ withdraw: line.grants }));
  };
  return (
    <section class="card panel" aria-labelledby="rights-title">
      <h2 id="rights-title">Rights</h2>
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      {!row.identity && <p class="quiet">It has no identity on the bus yet.</p>}
      {row.identity && lines.length === 0 && (
        <p class="quiet">Nothing was granted: it may only report its health and raise alerts.</p>
      )}
      <ul class="agent-lines" aria-label="Granted">
        {lines.map((l, i) => (
          <li key={i}>
            {sentence(l)}
            {mayGrant && (
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
      {lacks.length > 0 && (
        <section class="agent-lacks" aria-label="What it wants and does not have">
          <strong>It also wants that it</strong>
          <ul class="agent-lines">
            {lacks.map((l, i) => (
              <li key={i}>{sentence(l)}</li>
            ))}
          </ul>
          {mayGrant ? (
            <button
              type="button"
              class="primary"
              onClick={() =>
                void change(api.send("POST", `${at}/approve?version=${row.process?.version ?? ""}`))
              }
            >
              Allow all that it wants
            </button>
          ) : (
            <span class="quiet">An administrator can allow that.</span>
          )}
        </section>
      )}
      {mayGrant && <GrantForm onGrant={(grant) => regrant({ grant })} onGranted={onChanged} />}
      {includes(role, "engineer") && <Refusals api={api} name={name} epoch={epoch} />}
    </section>
  );
}

type RefusalsProps = Pick<PartProps, "api" | "name" | "epoch">;

/** What the agent tried lately and was refused, from the audit log. */
function Refusals({ api, name, epoch }: RefusalsProps) {
  const ask = useCallback(
    async () =>
      (await api.get<Audit>("audit", { actor: `agent:${name}`, action: "refused", limit: 10 }))
        .entries,
    [api, name],
  );
  const { data: entries, problem } = usePoll(ask, 15_000, epoch);
  const all = `/audit?${new URLSearchParams({ actor: `agent:${name}`, action: "refused" })}`;
  return (
    <section aria-label="Refused lately">
      <div class="panel-head">
        <h2>Refused lately</h2>
        <a href={all}>All in the audit log</a>
      </div>
      {problem && <p class="problem">{plain(problem)}</p>}
      {entries?.length === 0 && <p class="quiet">Nothing.</p>}
      <ul class="agent-lines">
        {(entries ?? []).map((e) => (
          <li key={e.seq}>
            <time class="quiet number" dateTime={e.time}>
              {dateTime(Date.parse(e.time))}
            </time>{" "}
            {reasonOf(e.outcome)} <span class="quiet">{plain(e.subject)}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
