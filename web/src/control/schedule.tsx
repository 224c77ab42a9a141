import { useState } from "preact/hooks";
import type { Api, Device } from "../api";
import { date, dateMinute, plain, plural } from "../format";
import type { ControlTask } from "../generated/api";
import { coded } from "../language/codes";
import { go, type Place } from "../shell/place";
import { includes } from "../shell/role";
import { Ask } from "./ask";
import { cancel } from "./calls";
import { daysOf, ganttRows, scheduleAddress, shifted, type Wanted } from "./gantt";
import { Gantt } from "./gantt-chart";
import { priorities } from "./reservation";
import { ReserveForm } from "./reserve-form";
import { useAct } from "./use-act";
import { whoWords } from "./words";

interface Props {
  api: Api;
  place: Place;
  tasks: readonly ControlTask[];
  devices: readonly Device[];
  me: string;
  role: string;
  now: number;
  onDone(): void;
}

const mostRows = 200;

/** Reservations over a day or a week, and the form to make one. */
export function Schedule({ api, place, tasks, devices, me, role, now, onDone }: Props) {
  const { from, to, days } = daysOf(place.search, now);
  const chosen = new URLSearchParams(place.search).get("task") ?? "";
  const [wanted, setWanted] = useState<Wanted>();
  const span = [from, to] as const;
  const rows = ganttRows(tasks, span, wanted);
  const task = tasks.find((t) => t.task === chosen);
  return (
    <>
      <section class="card panel" aria-labelledby="schedule-title">
        <div class="panel-head">
          <h2 id="schedule-title">{spanWords(from, to, days)}</h2>
          <Ways from={from} days={days} />
        </div>
        {rows.length === 0 && <p class="quiet">Nothing is reserved then.</p>}
        {rows.length > 0 && (
          <Gantt
            rows={rows.slice(0, mostRows)}
            {...{ span, now, me, chosen }}
            addressOf={(name) => scheduleAddress(from, days, name)}
          />
        )}
        {rows.length > mostRows && (
          <p class="quiet">{plural(rows.length - mostRows, "more path")} are not drawn.</p>
        )}
        {task && <Details {...{ api, task, me, role, onDone }} />}
        {chosen !== "" && !task && (
          <p class="quiet">The reservation {plain(chosen)} is over, or was cancelled.</p>
        )}
      </section>
      {includes(role, "operator") ? (
        <ReserveForm {...{ api, tasks, devices, me, now, onDone }} onWanted={setWanted} />
      ) : (
        <p class="quiet">To reserve needs the role operator; yours is {coded(role)}.</p>
      )}
    </>
  );
}

function spanWords(from: number, to: number, days: number): string {
  const first = date(from);
  return days === 1 ? `Reservations on ${first}` : `Reservations, ${first} to ${date(to - 1)}`;
}

function Ways({ from, days }: { from: number; days: number }) {
  const to = (address: string) => go(address, "replace");
  const move = (n: number) => to(scheduleAddress(shifted(from, n), days));
  return (
    <div class="control-ways">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-label="When" class="joined">
        <button type="button" class="sign" aria-label="Earlier" onClick={() => move(-days)}>
          ‹
        </button>
        <button type="button" onClick={() => to("/control/schedule")}>
          Today
        </button>
        <button type="button" class="sign" aria-label="Later" onClick={() => move(days)}>
          ›
        </button>
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-label="How long" class="joined">
        {[1, 7].map((n) => (
          <button
            key={n}
            type="button"
            aria-pressed={days === n}
            onClick={() => to(scheduleAddress(from, n))}
          >
            {n === 1 ? "Day" : "Week"}
          </button>
        ))}
      </div>
    </div>
  );
}

interface DetailsProps {
  api: Api;
  task: ControlTask;
  me: string;
  role: string;
  onDone(): void;
}

/** One reservation, and the button that ends it. */
function Details({ api, task, me, role, onDone }: DetailsProps) {
  const [isAsked, setAsked] = useState(false);
  const act = useAct();
  const own = task.requester === me;
  const may = includes(role, own ? "operator" : "engineer");
  const perform = async () => {
    const done = await act.perform(() => cancel(api, task.task));
    if (done) setAsked(false);
    onDone();
  };
  return (
    <section class="control-details" aria-label="Chosen reservation">
      <h2>{plain(task.task)}</h2>
      <p>
        {whoWords(task.requester, me)}; priority {task.priority}, {priorities[task.priority]}
        {task.preempted && "; it ends soon, for another one"}
        {task.reason && <span class="slot-reason quiet">{plain(task.reason)}</span>}
      </p>
      <ul>
        {task.windows.map((w) => (
          <li key={`${w.path} ${w.from}`}>
            {plain(w.path)}, {dateMinute(Date.parse(w.from ?? ""))} to{" "}
            {dateMinute(Date.parse(w.to))}
          </li>
        ))}
      </ul>
      {may && (
        <p class="actions">
          <button type="button" onClick={() => setAsked(true)}>
            Cancel the reservation
          </button>
        </p>
      )}
      {!may && !own && (
        <p class="quiet">To cancel what somebody else reserved needs the role engineer.</p>
      )}
      {isAsked && (
        <Ask
          title={`Cancel the reservation ${plain(task.task)}?`}
          label="Cancel the reservation"
          busy={act.busy}
          problem={plain(act.problem)}
          onDo={() => void perform()}
          onClose={() => setAsked(false)}
        >
          <p>All its windows end, and the commands that were made under it.</p>
        </Ask>
      )}
    </section>
  );
}
