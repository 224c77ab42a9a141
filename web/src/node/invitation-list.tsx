import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { dateTime, plain } from "../format";
import type { Invitation } from "../generated/api";
import { includes } from "../shell/role";
import { cancel } from "./calls";
import { stateWords } from "./invitation";
import { placeWords } from "./words";

interface Props {
  api: Api;
  role: string;
  invitations: readonly Invitation[];
  now: number;
  onChanged(): void;
}

const mostShown = 100;

/** The invitations of the last days, those that can still be used with a way to end them. */
export function InvitationList({ api, role, invitations, now, onChanged }: Props) {
  const act = useAct();
  const end = async (i: Invitation) => {
    if (!confirm("Cancel the invitation? Its code is refused from then on.")) return;
    await act.perform(() => cancel(api, i.id));
    onChanged();
  };
  if (invitations.length === 0) {
    return <p class="quiet">None yet. An invitation is a code that lets one node join.</p>;
  }
  return (
    <>
      <p role="alert" class="problem">
        {plain(act.problem)}
      </p>
      <ul class="node-invitations" aria-label="Invitations">
        {invitations.slice(0, mostShown).map((i) => (
          <li key={i.id} class={i.state === "open" ? "" : "quiet"}>
            <span>
              <strong>{plain(i.name) || "any name"}</strong>
              <span class="node-more">{placeWords(i.prefix)}</span>
            </span>
            <span>
              {stateWords(i, now)}
              <span class="node-more">
                {i.approved ? "approved already" : "has to be approved"} · by {plain(i.by)},{" "}
                {dateTime(Date.parse(i.created))}
              </span>
            </span>
            {i.state === "open" && includes(role, "administrator") && (
              <button
                type="button"
                aria-label={`Cancel the invitation of ${dateTime(Date.parse(i.created))}`}
                disabled={act.busy}
                onClick={() => void end(i)}
              >
                Cancel
              </button>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}
