import { dateTime, plain } from "../format";
import type { ControlPoint, ControlSlot } from "../generated/api";
import { includes } from "../shell/role";
import { levelName, levels } from "./levels";
import { revertWords, untilWords, whoWords, withUnit } from "./words";

interface Props {
  point: ControlPoint;
  me: string;
  role: string;
  now: number;
  /** Is told which command is to end. */
  onRelease(slot: ControlSlot): void;
}

/** The priority array: sixteen levels, what stands under all of them, and which one counts. */
export function PriorityArray({ point, me, role, now, onRelease }: Props) {
  const winner = point.array[0]?.level;
  const isStill = winner === undefined;
  return (
    <section class="card panel" aria-labelledby="array-title">
      <h2 id="array-title">Priority array</h2>
      <table class="data-table array-table">
        <thead>
          <tr>
            <th scope="col">Level</th>
            <th scope="col">Value</th>
            <th scope="col">Who, until, why</th>
          </tr>
        </thead>
        <tbody>
          {levels.map((level) => (
            <LevelRow
              key={level}
              level={level}
              slot={point.array.find((s) => s.level === level)}
              wins={level === winner}
              {...{ point, me, role, now, onRelease }}
            />
          ))}
          <tr class={isStill ? "is-effective" : ""}>
            <th scope="row">Relinquish default</th>
            <td>{point.default === null ? "none" : withUnit(point.default, point.unit)}</td>
            <td class="quiet">
              {isStill && point.reverting && <strong>counts now: </strong>}
              When nobody commands it, the point {revertWords(point)}.
            </td>
          </tr>
        </tbody>
      </table>
    </section>
  );
}

interface RowProps extends Props {
  level: number;
  slot: ControlSlot | undefined;
  wins: boolean;
}

function LevelRow({ level, slot, wins, point, me, role, now, onRelease }: RowProps) {
  const name = levelName(level);
  const mayEnd = slot && includes(role, slot.requester === me ? "operator" : "engineer");
  return (
    <tr class={wins ? "is-effective" : slot ? "is-taken" : "is-free"}>
      <th scope="row">
        {level}
        {name && <span class="level-name quiet"> {name}</span>}
      </th>
      <td>{slot ? withUnit(slot.value, point.unit) : <span class="quiet">–</span>}</td>
      <td>
        {slot && (
          <>
            {wins && <strong class="pill is-good">counts</strong>}{" "}
            <span title={slot.from ? `Since ${dateTime(Date.parse(slot.from))}` : ""}>
              {whoWords(slot.requester, me)}, {untilWords(slot.until, now)}
            </span>
            {slot.task && <span class="quiet"> for {plain(slot.task)}</span>}
            {slot.reason && <span class="slot-reason quiet">{plain(slot.reason)}</span>}
            {mayEnd && (
              <button
                type="button"
                aria-label={`Release level ${level} of ${plain(slot.requester)}`}
                onClick={() => onRelease(slot)}
              >
                Release
              </button>
            )}
          </>
        )}
      </td>
    </tr>
  );
}
