import { useState } from "preact/hooks";
import { linesOf, sentence } from "../agent/grant";
import { GrantForm } from "../agent/grant-form";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { Door, Grants, Invited } from "../generated/api";
import { invite } from "./calls";
import { type Draft, emptyDraft, invitationOf, mergeGrants, spans } from "./invitation";

interface Props {
  api: Api;
  door: Door;
  onInvited(invited: Invited): void;
  onCancel(): void;
}

/** Says what a node may become that uses the code. */
export function InviteForm({ api, door, onInvited, onCancel }: Props) {
  const [draft, setDraft] = useState<Draft>(emptyDraft);
  const [grants, setGrants] = useState<Grants>({});
  const [wrong, setWrong] = useState("");
  const act = useAct();
  const submit = async (event: Event) => {
    event.preventDefault();
    const made = invitationOf(draft, grants, api.now());
    if ("problem" in made) return setWrong(made.problem);
    setWrong("");
    await act.perform(async () => onInvited(await invite(api, made.wanted)));
  };
  const lines = linesOf(grants);
  return (
    <section class="node-invite" aria-label="New invitation">
      <form id="invite" aria-label="Invite a node" onSubmit={(e) => void submit(e)}>
        <Fields draft={draft} door={door} onDraft={setDraft} />
      </form>
      <section aria-label="Rights here">
        <p>
          It may send its own data. <span class="quiet">What else it may do here:</span>
        </p>
        <ul class="agent-lines">
          {lines.map((l, i) => (
            <li key={i}>
              {sentence(l)}
              <button
                type="button"
                aria-label={`Leave out: ${sentence(l)}`}
                onClick={() =>
                  setGrants(
                    lines
                      .filter((o) => o !== l)
                      .reduce<Grants>((a, o) => mergeGrants(a, o.grants), {}),
                  )
                }
              >
                Leave out
              </button>
            </li>
          ))}
        </ul>
        <details>
          <summary>Grant more</summary>
          <GrantForm
            without="hold"
            onGrant={async (more) => setGrants((old) => mergeGrants(old, more))}
            onGranted={() => {}}
          />
        </details>
      </section>
      <p role="alert" class="problem">
        {plain(wrong || act.problem)}
      </p>
      <p class="actions">
        <button type="submit" form="invite" class="primary" disabled={act.busy}>
          Make the code
        </button>
        <button type="button" onClick={onCancel}>
          Cancel
        </button>
      </p>
    </section>
  );
}

interface FieldsProps {
  draft: Draft;
  door: Door;
  onDraft(draft: Draft): void;
}

function Fields({ draft, door, onDraft }: FieldsProps) {
  const field = (key: "name" | "prefix" | "addresses", label: string, hint: string) => (
    <label>
      {label}
      <input
        type="text"
        maxLength={512}
        spellcheck={false}
        autocapitalize="off"
        autocomplete="off"
        value={draft[key]}
        onInput={(e) => onDraft({ ...draft, [key]: e.currentTarget.value })}
      />
      <span class="quiet">{hint}</span>
    </label>
  );
  const known = door.addresses.map(plain).join(", ") || "none";
  return (
    <div class="agent-form node-fields">
      {field("name", "Name", "Empty: the node chooses.")}
      {field(
        "prefix",
        "Its points lie below",
        "Such as campus/{name}, where {name} is its name. Empty: anywhere.",
      )}
      <label>
        The code holds for
        <select
          value={draft.lasts}
          onChange={(e) => onDraft({ ...draft, lasts: e.currentTarget.value })}
        >
          {spans.map((s) => (
            <option key={s.ms} value={String(s.ms)}>
              {s.label}
            </option>
          ))}
        </select>
      </label>
      {field("addresses", "It finds this node at", `host:port. Empty: ${known}.`)}
      <label class="node-check">
        <input
          type="checkbox"
          checked={draft.approved}
          onChange={(e) => onDraft({ ...draft, approved: e.currentTarget.checked })}
        />
        <span>
          It needs nobody's approval
          <span class="quiet"> Whoever uses the code first is in at once.</span>
        </span>
      </label>
    </div>
  );
}
