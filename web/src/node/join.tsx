import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { Invited } from "../generated/api";
import { includes } from "../shell/role";
import { usePoll } from "../use-poll";
import { joining } from "./calls";
import { Fingerprint } from "./fingerprint";
import { InvitationList } from "./invitation-list";
import { InviteForm } from "./invite-form";
import { InvitedCode } from "./invited";
import { Waiting } from "./waiting";

interface Props {
  api: Api;
  role: string;
  epoch: number;
  onChanged(): void;
}

const every = 4000;

/** Lets nodes in: those that wait, the codes that are out, and the way to a new one. */
export function Join({ api, role, epoch, onChanged }: Props) {
  const [changes, setChanges] = useState(0);
  const [inviting, setInviting] = useState(false);
  const [invited, setInvited] = useState<Invited>();
  const ask = useCallback(() => joining(api), [api]);
  const { data, problem } = usePoll(ask, every, epoch + changes);
  const again = () => {
    setChanges((n) => n + 1);
    onChanged();
  };
  if (!data) return <p class="asking">{plain(problem) || "Asking who wants to join…"}</p>;
  const shared = { api, role, onChanged: again };
  return (
    <>
      {problem && <p class="problem">{plain(problem)}</p>}
      <Waiting {...shared} waiting={data.children.filter((c) => c.state === "pending")} />
      <section class="card panel" aria-labelledby="invitations-title">
        <div class="panel-head">
          <h2 id="invitations-title">Invitations</h2>
          {includes(role, "administrator") && !inviting && (
            <button
              type="button"
              class="primary"
              onClick={() => {
                setInvited(undefined);
                setInviting(true);
              }}
            >
              Invite a node
            </button>
          )}
        </div>
        {inviting && (
          <InviteForm
            api={api}
            door={data.door}
            onInvited={(made) => {
              setInvited(made);
              setInviting(false);
              again();
            }}
            onCancel={() => setInviting(false)}
          />
        )}
        {invited && (
          <InvitedCode
            invited={invited}
            state={data.invitations.find((i) => i.id === invited.invitation.id)?.state}
            onDone={() => setInvited(undefined)}
          />
        )}
        <InvitationList {...shared} invitations={data.invitations} now={api.now()} />
      </section>
      <section class="card panel" aria-labelledby="door-title">
        <h2 id="door-title">How others reach this node</h2>
        <p>
          {data.door.addresses.length === 0
            ? "No other machine reaches its bus: write listen.bus with an address that is not loopback into the configuration, such as 0.0.0.0:4222."
            : `Its bus listens at ${data.door.addresses.map(plain).join(", ")}. A firewall has to let that one port in here, and nothing at the other node.`}
        </p>
        <Fingerprint label="Its authority" of={data.door.fingerprint} />
      </section>
    </>
  );
}
