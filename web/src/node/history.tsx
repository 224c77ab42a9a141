import { useCallback } from "preact/hooks";
import type { Api } from "../api";
import { Entries } from "../audit/entries";
import { plain } from "../format";
import type { Audit } from "../generated/api";
import { go } from "../shell/place";
import { usePoll } from "../use-poll";
import "../audit/audit.css";

interface Props {
  api: Api;
  name: string;
  epoch: number;
}

/** What the audit log says of a node: what was done about it, and what it did. */
export function History({ api, name, epoch }: Props) {
  const ask = useCallback(async () => {
    const [about, by] = await Promise.all([
      api.get<Audit>("audit", { subject: name, limit: 50 }),
      api.get<Audit>("audit", { actor: `child:${name}`, limit: 50 }),
    ]);
    const entries = new Map([...about.entries, ...by.entries].map((e) => [e.seq, e]));
    return [...entries.values()].sort((a, b) => b.seq - a.seq).slice(0, 50);
  }, [api, name]);
  const { data: entries, problem } = usePoll(ask, 10_000, epoch);
  const all = `/audit?${new URLSearchParams({ subject: `${name}*` })}`;
  return (
    <section class="card panel" aria-labelledby="history-title">
      <div class="panel-head">
        <h2 id="history-title">What happened</h2>
        <a href={all}>More in the audit log</a>
      </div>
      {problem && <p class="problem">{plain(problem)}</p>}
      {entries?.length === 0 && <p class="quiet">Nothing that the audit log knows.</p>}
      {entries && (
        <Entries
          entries={entries}
          onNarrow={(part) => go(`/audit?${new URLSearchParams(part as Record<string, string>)}`)}
        />
      )}
    </section>
  );
}
