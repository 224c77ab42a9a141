import { useCallback, useState } from "preact/hooks";
import { plain } from "../format";
import { nodeAt } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { children } from "./calls";
import { Member } from "./member";
import { childStanding } from "./words";
import "../agent/agents.css";
import "../style/data-table.css";
import "./nodes.css";

const every = 4000;

/** One node below this one. */
export function NodeScreen({ api, session, place, epoch }: ScreenProps) {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => children(api), [api]);
  const { data, problem } = usePoll(ask, every, epoch + changes);
  const name = nodeAt(place);
  if (!data) return <p class="asking">{plain(problem) || "Asking about the node…"}</p>;
  const child = data.find((c) => c.name === name);
  if (!child) {
    return (
      <div class="card nothing">
        <h1>There is no node {plain(name)}</h1>
        <p>It may have been forgotten, or be called otherwise.</p>
        <p class="actions">
          <a class="button" href="/nodes">
            Go to the nodes
          </a>
        </p>
      </div>
    );
  }
  const at = childStanding(child);
  return (
    <div class="screen nodes">
      <h1>{plain(name)}</h1>
      <p class="agent-head">
        <span class={`node-state is-${at.level}`} role="status" aria-label="State">
          <span class="dot" aria-hidden="true" /> {at.words}
        </span>
        <a href="/nodes">All nodes</a>
      </p>
      {problem && <p class="problem">{plain(problem)}</p>}
      <Member
        api={api}
        role={session.role}
        child={child}
        onChanged={() => setChanges((n) => n + 1)}
      />
    </div>
  );
}
