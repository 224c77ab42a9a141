import { useCallback, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { AlarmPeople } from "../generated/api";
import { reasonOf } from "../language/said";
import { includes } from "../shell/role";
import { usePoll } from "../use-poll";
import { wayOf } from "./plan";
import { PlanForm } from "./plan-form";
import { PushHere } from "./push-here";

const every = 10_000;

interface Props {
  api: Api;
  role: string;
  epoch: number;
}

/** Who is told of alarms: who is on call, who cannot be told, this browser, and the plan. */
export function People({ api, role, epoch }: Props) {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => peopleOf(api), [api]);
  const { data, problem } = usePoll(ask, every, epoch + changes);
  const again = () => setChanges((n) => n + 1);
  const engineer = includes(role, "engineer");
  return (
    <section class="card panel" aria-labelledby="people-title">
      <h2 id="people-title">Who is told</h2>
      {problem && <p class="problem">{plain(problem)}</p>}
      {data && (
        <>
          <OnCall people={data} />
          {data.wrong && (
            <p class="problem">
              The plan is wrong, and the one before is used: {reasonOf(data.wrong)}
            </p>
          )}
          {data.troubles.map((t) => (
            <p key={t} class="problem">
              {reasonOf(t)}
            </p>
          ))}
          <ul class="alarm-rules">
            {data.contacts.map((c) => (
              <ContactItem key={c.name} {...{ api, engineer, contact: c }} />
            ))}
          </ul>
          <PushHere api={api} people={data} onDone={again} />
        </>
      )}
      {engineer && <PlanForm api={api} onDone={again} />}
    </section>
  );
}

async function peopleOf(api: Api): Promise<AlarmPeople | undefined> {
  try {
    return await api.get<AlarmPeople>("alarms/people");
  } catch (err) {
    if (err instanceof Problem && err.status === 404) return undefined; // a node of an older version
    throw err;
  }
}

function OnCall({ people }: { people: AlarmPeople }) {
  if (people.contacts.length === 0)
    return <p class="quiet">Nobody is told of alarms. Whoever looks at this page sees them.</p>;
  return (
    <p>
      {people.on_call.length > 0 ? (
        <>
          On call now: <strong>{people.on_call.map(plain).join(", ")}</strong>
        </>
      ) : (
        "Nobody is on call now by the calendar, so all are told where the plan says on-call."
      )}
    </p>
  );
}

interface ItemProps {
  api: Api;
  engineer: boolean;
  contact: AlarmPeople["contacts"][number];
}

function ContactItem({ api, engineer, contact }: ItemProps) {
  const act = useAct();
  const [sent, setSent] = useState(false);
  const test = async () => {
    setSent(false);
    setSent(
      await act.perform(() => api.send("POST", "alarms/people/test", { contact: contact.name })),
    );
  };
  return (
    <li>
      <span class="alarm-text">
        <strong>{plain(contact.name)}</strong> by {plain(wayOf(contact.by)?.words ?? contact.by)}
        <span role="status">
          {sent && ` The test was sent. Ask ${plain(contact.name)} whether it arrived.`}
        </span>
        {act.problem && <span class="problem"> {plain(act.problem)}</span>}
      </span>
      {engineer && (
        <button
          type="button"
          aria-label={`Send a test to ${plain(contact.name)}`}
          disabled={act.busy}
          onClick={() => void test()}
        >
          Send a test
        </button>
      )}
    </li>
  );
}
