import { useState } from "preact/hooks";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import { join } from "./calls";
import type { PartProps } from "./parent";

/** Joins a parent with a code that was made there. */
export function JoinForm({ api, may, onChanged }: PartProps) {
  const act = useAct();
  const [code, setCode] = useState("");
  const [name, setName] = useState("");
  const submit = async (event: Event) => {
    event.preventDefault();
    await act.perform(() => join(api, code.trim(), name.trim()));
    onChanged();
  };
  return (
    <section class="card panel" aria-labelledby="join-title">
      <h2 id="join-title">This node has no parent</h2>
      <p>
        It can send its data to another node, such as that of the campus. Make a code there, on its
        screen <em>Nodes, Let nodes join</em> or by <code>voltbus invite</code>, and paste it here.
        This node connects out to the other one; nothing listens here for it.
      </p>
      {!may && <p class="quiet">An administrator can join it to another node.</p>}
      {may && (
        <form class="agent-form" aria-label="Join a node" onSubmit={(e) => void submit(e)}>
          <label>
            Code
            <input
              type="text"
              required
              maxLength={4096}
              spellcheck={false}
              autocapitalize="off"
              autocomplete="off"
              placeholder="vb1…"
              value={code}
              onInput={(e) => setCode(e.currentTarget.value)}
            />
          </label>
          <label>
            Name there
            <input
              type="text"
              maxLength={64}
              spellcheck={false}
              autocapitalize="off"
              autocomplete="off"
              value={name}
              onInput={(e) => setName(e.currentTarget.value)}
            />
            <span class="quiet">Empty: what the code says, or its own name.</span>
          </label>
          <p role="alert" class="problem">
            {plain(act.problem)}
          </p>
          <p class="actions">
            <button type="submit" class="primary" disabled={act.busy}>
              {act.busy ? "Joining…" : "Join"}
            </button>
          </p>
        </form>
      )}
    </section>
  );
}
