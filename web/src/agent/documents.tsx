import { useCallback } from "preact/hooks";
import { listDocuments } from "../document/calls";
import { dateTime, plain } from "../format";
import { documentAddress } from "../shell/place";
import { includes } from "../shell/role";
import { usePoll } from "../use-poll";
import type { PartProps } from "./page";

/** The configuration documents of the agent. */
export function OwnDocuments({ api, name, role, epoch }: PartProps) {
  const owner = `agent/${name}`;
  const ask = useCallback(() => listDocuments(api, owner), [api, owner]);
  const { data: documents, problem } = usePoll(ask, 15_000, epoch);
  return (
    <section class="card panel" aria-labelledby="documents-title">
      <div class="panel-head">
        <h2 id="documents-title">Configuration documents</h2>
        {includes(role, "engineer") && (
          <a class="button" href={`/documents?${new URLSearchParams({ owner })}`}>
            Write another
          </a>
        )}
      </div>
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      {documents?.length === 0 && (
        <p class="quiet">None: it runs with the settings that its program has.</p>
      )}
      <ul class="agent-lines" aria-label="Documents">
        {(documents ?? []).map((d) => (
          <li key={d.name}>
            <a class="link" href={documentAddress(owner, d.name)}>
              {plain(d.name)}
            </a>{" "}
            <span class="quiet">
              version {d.version} by {plain(d.by)}, {dateTime(Date.parse(d.at))}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
