import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { type Act, useAct } from "../control/use-act";
import { plain } from "../format";
import type { WorldState } from "../generated/api";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { Begin } from "./begin";
import { CourseChart } from "./course";
import { Market } from "./market";
import { Members } from "./members";
import { Stack } from "./stack";
import { Controls, Waits } from "./time";
import { Ways } from "./ways";
import "../style/data-table.css";
import "./regulation.css";

const often = 1000;
const resource = "lab/world";

/** Buildings that follow a signal in virtual time, regulated in four ways. */
export function RegulationScreen({ api, session, epoch }: ScreenProps) {
  const [changes, setChanges] = useState(0);
  const ask = useCallback(() => api.get<WorldState>(resource), [api]);
  const { data: world, problem } = usePoll(ask, often, epoch + changes);
  const act = useAct();
  const engineer = includes(session.role, "engineer");
  const send: Send = async (method, path, body) => {
    await act.perform(() => api.send(method, resource + path, body));
    setChanges((n) => n + 1);
  };
  return (
    <div class="screen regulation-screen">
      <h1>Regulation</h1>
      <Members api={api} role={session.role} epoch={epoch} />
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {!world && !problem && <p class="asking">Asking for the world…</p>}
      {world && !world.there && <p class="quiet">{about}</p>}
      {world?.there && <Shown world={world} engineer={engineer} busy={act.busy} send={send} />}
      {act.problem && (
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
      )}
      {world && engineer && <Begin there={world.there} busy={act.busy} send={send} />}
      {world && !engineer && !world.there && (
        <p class="quiet">To begin a world needs the role engineer.</p>
      )}
    </div>
  );
}

const about =
  "A world of modelled buildings follows the signal of a grid in virtual time, with a master, with an elected " +
  "leader, without one and by trade, side by side. Kill the leader, lose messages, and read the score.";

/** Asks the node to change the world. */
export type Send = (
  method: Parameters<Api["send"]>[0],
  path: string,
  body?: unknown,
) => Promise<void>;

export interface WorldProps {
  world: WorldState;
  engineer: boolean;
  busy: Act["busy"];
  send: Send;
}

function Shown(props: WorldProps) {
  const { world } = props;
  return (
    <>
      <Controls {...props} />
      <CourseChart course={world.course} />
      <Ways ways={world.ways} />
      <div class="regulation-pair">
        <Stack units={world.stack} />
        <Waits waits={world.waits} />
      </div>
      <Market market={world.market} course={world.course} />
    </>
  );
}
