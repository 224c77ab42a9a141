import { dateTime, plain } from "../format";
import type { ControlPoint, ControlSlot, Priorities } from "../generated/api";
import { reasonOf } from "../language/said";
import { includes } from "../shell/role";
import type { Polled } from "../use-poll";
import { type DeviceLevel, deviceLevels, deviceWords, standardOf } from "./device-array";
import { levelName, levels } from "./levels";
import { revertWords, untilWords, whoWords, withUnit } from "./words";

interface Props {
  point: ControlPoint;
  me: string;
  role: string;
  now: number;
  /** The array in the device; nothing if it has none. */
  device: Polled<Priorities | undefined> | undefined;
  /** Is told which command is to end. */
  onRelease(slot: ControlSlot): void;
}

/** The priority array: sixteen levels, what stands under all of them, and which one counts. */
export function PriorityArray({ point, me, role, now, device, onRelease }: Props) {
  const winner = point.array[0]?.level;
  const isStill = winner === undefined;
  const read = device?.problem === "" ? device.data : undefined;
  const there = read && deviceLevels(point, read);
  return (
    <section class="card panel" aria-labelledby="array-title">
      <h2 id="array-title">Priority array</h2>
      {device && <InDevice point={point} device={device} />}
      <table class={`data-table array-table${device ? " has-device" : ""}`}>
        <thead>
          <tr>
            <th scope="col">Level</th>
            <th scope="col">{device ? "Node" : "Value"}</th>
            {device && <th scope="col">Device</th>}
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
              there={there?.find((l) => l.level === level)}
              {...{ device, point, me, role, now, onRelease }}
            />
          ))}
          <tr class={isStill ? "is-effective" : ""}>
            <th scope="row">Relinquish default</th>
            <td>{point.default === null ? "none" : withUnit(point.default, point.unit)}</td>
            {device && (
              <td class={read?.levels.length === 0 ? "device-wins" : ""}>
                {read && <Shown value={standardOf(point, read)} />}
              </td>
            )}
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
  /** The level in the device, once it was read. */
  there: DeviceLevel | undefined;
}

function LevelRow({ level, slot, wins, device, there, point, me, role, now, onRelease }: RowProps) {
  const name = levelName(level);
  const mayEnd = slot && includes(role, slot.requester === me ? "operator" : "engineer");
  return (
    <tr class={wins ? "is-effective" : slot ? "is-taken" : "is-free"}>
      <th scope="row">
        {level}
        {name && <span class="level-name quiet"> {name}</span>}
      </th>
      <td>{slot ? withUnit(slot.value, point.unit) : <span class="quiet">–</span>}</td>
      {device && (
        <td class={there?.wins ? "device-wins" : ""}>{there && <Shown value={there.value} />}</td>
      )}
      <td>
        {there && <InDeviceOnly there={there} has={slot !== undefined} />}
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

const Shown = ({ value }: { value: string }) => (
  <span class={value === "" ? "quiet" : ""}>{value || "–"}</span>
);

/** Who commands a level in the device, where the command of the node does not say it. */
function InDeviceOnly({ there, has }: { there: DeviceLevel; has: boolean }) {
  if (there.from === "another system") {
    return <span class="pill">another system{there.wins ? ", counts in the device" : ""}</span>;
  }
  return there.from === "this node" && !has ? <span class="quiet">this node</span> : null;
}

/** What the device follows, or why that is not known. */
function InDevice({
  point,
  device,
}: {
  point: ControlPoint;
  device: Polled<Priorities | undefined>;
}) {
  if (device.problem !== "") {
    return (
      <p role="status">The array of the device could not be read: {reasonOf(device.problem)}</p>
    );
  }
  if (!device.data) return <p class="quiet">Reading the array of the device…</p>;
  return <p role="status">{deviceWords(point, device.data)}</p>;
}
