import { isOpen, levelOf, stateWords } from "../alarm/words";
import { age, plain } from "../format";
import type { Alarm, Alarms, DashboardTile } from "../generated/api";
import { reasonOf } from "../language/said";
import { isUnder } from "../path";
import { pointAddress } from "../shell/place";

interface Props {
  tile: DashboardTile;
  alarms: Alarms | undefined;
  now: number;
}

const most = 50;

/** The open alarms of a branch, "" for all. */
export const alarmsBelow = (alarms: Alarms | undefined, branch: string): Alarm[] =>
  (alarms?.alarms ?? []).filter((a) => isOpen(a) && isUnder(a.point, branch));

/** The open alarms, as the node lists them. */
export function AlarmTile({ tile, alarms, now }: Props) {
  const list = alarmsBelow(alarms, tile.branch ?? "");
  if (!alarms) return <p class="quiet">Asking for alarms…</p>;
  if (list.length === 0) {
    return (
      <p class="no-alarms">
        <span class="lamp" aria-hidden="true" /> No open alarm
      </p>
    );
  }
  return (
    <ul class="board-alarms">
      {list.slice(0, most).map((a) => (
        <li key={`${a.node} ${a.id}`} class={`is-${levelOf(a)}`}>
          <span class="dot" aria-hidden="true" />
          <a href={a.point ? pointAddress(a.point) : "/alarms"}>{reasonOf(a.text)}</a>
          <span class="quiet">
            {plain(a.description || a.point)} · {stateWords(a.state)} ·{" "}
            {age(now - Date.parse(a.since))}
          </span>
        </li>
      ))}
      {list.length > most && (
        <li>
          <a href="/alarms">{list.length - most} more</a>
        </li>
      )}
    </ul>
  );
}

/** A note: an empty line begins a paragraph. */
export const TextTile = ({ tile }: { tile: DashboardTile }) => (
  <div class="text-tile">
    {(tile.text ?? "").split(/\n\s*\n/).map((paragraph, i) => (
      <p key={i}>{plain(paragraph)}</p>
    ))}
  </div>
);
