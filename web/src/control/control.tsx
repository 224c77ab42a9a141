import { useCallback } from "preact/hooks";
import { plain } from "../format";
import { reasonOf } from "../language/said";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { holdings } from "./calls";
import { HeldTable } from "./held";
import { Overrides } from "./overrides";
import { ReleaseAll } from "./release-all";
import { Schedule } from "./schedule";
import { useControl } from "./use-control";
import { Waiting } from "./waiting";
import { requesterOf } from "./words";
import "../style/data-table.css";
import "./control.css";

const parts = [
  { address: "/control", name: "Commanded points" },
  { address: "/control/schedule", name: "Reservations" },
] as const;

/** Who holds what: commands, what waits for approval, overrides and reservations. */
export function ControlScreen({ api, session, place, books, epoch }: ScreenProps) {
  const ask = useCallback(() => holdings(api), [api]);
  const told = useControl(api, ask, epoch);
  const { role } = session;
  const me = requesterOf(session.user);
  const shared = { api, me, role, now: api.now(), onDone: told.again };
  const isSchedule = place.path === "/control/schedule";
  return (
    <div class="screen control-screen">
      <div class="panel-head">
        <h1>Control</h1>
        {includes(role, "operator") && told.data && <ReleaseAll {...shared} holdings={told.data} />}
      </div>
      <nav class="parts" aria-label="Parts of control">
        {parts.map(({ address, name }) => (
          <a
            key={address}
            href={address}
            {...((address === "/control/schedule") === isSchedule
              ? { "aria-current": "page" as const }
              : {})}
          >
            {name}
          </a>
        ))}
      </nav>
      {told.problem && (
        <p role="alert" class="problem">
          {plain(told.problem)}
        </p>
      )}
      {told.link.state === "lost" && told.link.why !== "" && (
        <p class="problem" role="status">
          What happens is not told live, trying again. {reasonOf(told.link.why)}
        </p>
      )}
      {!told.data && !told.problem && <p class="asking">Asking who holds what…</p>}
      {told.data && isSchedule && (
        <Schedule
          {...shared}
          place={place}
          tasks={told.data.tasks}
          devices={books?.devices ?? []}
        />
      )}
      {told.data && !isSchedule && (
        <>
          <Waiting {...shared} waiting={told.data.waiting} points={told.data.points} />
          <HeldTable {...shared} place={place} holdings={told.data} />
          <Overrides {...shared} overrides={told.data.overrides} />
        </>
      )}
    </div>
  );
}
