import { useCallback } from "preact/hooks";
import type { Api, Session } from "../api";
import { pointsOf } from "../control/calls";
import { Revert } from "../control/revert";
import { type Happenings, useAsked } from "../control/use-control";
import { doing, requesterOf, untilWords, whoWords, withUnit } from "../control/words";
import { plain } from "../format";
import type { ControlPoint } from "../generated/api";
import { relativeTo } from "../path";
import { pointAddress } from "../shell/place";
import { includes } from "../shell/role";
import "../style/data-table.css";

interface Props {
  api: Api;
  /** Its path. */
  device: string;
  session: Session;
  /** What happens in control to its points. */
  happenings: Happenings;
  epoch: number;
}

const mostRows = 100;

/** The points of a device that can be set: who holds them, and the way to set them. */
export function Controls({ api, device, session, happenings, epoch }: Props) {
  const ask = useCallback(() => pointsOf(api, device), [api, device]);
  const { data, problem, again } = useAsked(ask, happenings, epoch);
  const list = (data ?? []).filter((p) => p.writable);
  const me = requesterOf(session.user);
  const verb = includes(session.role, "operator") ? "Set" : "Look at";
  return (
    <section class="card panel" aria-labelledby="controls-title">
      <div class="panel-head">
        <h2 id="controls-title">Can be set</h2>
        <Revert {...{ api, me }} path={device} points={list} role={session.role} onDone={again} />
      </div>
      {problem && <p class="problem">{plain(problem)}</p>}
      <ul class="device-controls" aria-label="Points that can be set">
        {list.slice(0, mostRows).map((p) => (
          <Row key={p.point} {...{ point: p, device, me, verb }} now={api.now()} />
        ))}
      </ul>
      {list.length > mostRows && (
        <p class="quiet">More can be set: the table has a way to the page of each point.</p>
      )}
    </section>
  );
}

interface RowProps {
  point: ControlPoint;
  device: string;
  me: string;
  verb: string;
  now: number;
}

function Row({ point, device, me, verb, now }: RowProps) {
  const name = plain(relativeTo(point.point, device));
  const { level, word } = doing(point, now);
  const [winner] = point.array;
  return (
    <li class={`is-${level}`}>
      <span class="dot" aria-hidden="true" />
      <span class="device-control">
        <strong>{name}</strong>{" "}
        {winner
          ? `${withUnit(winner.value, point.unit)} by ${whoWords(winner.requester, me)}, ${untilWords(winner.until, now)}`
          : withUnit(point.observed, point.unit)}
      </span>
      <span class="quiet">{word}</span>
      <a class="button" href={pointAddress(point.point)} aria-label={`${verb} ${name}`}>
        {verb}
      </a>
    </li>
  );
}
