import type { Api } from "../api";
import { plain } from "../format";
import type { ControlPoint, ControlSlot } from "../generated/api";
import { Ask } from "./ask";
import { release } from "./calls";
import { useAct } from "./use-act";
import { whoWords, withUnit } from "./words";

interface Props {
  api: Api;
  point: ControlPoint;
  me: string;
  onDone(): void;
  slot: ControlSlot;
  onClose(): void;
}

/** Asks before a command ends, and says what the point follows then. */
export function AskRelease({ api, point, slot, me, onDone, onClose }: Props) {
  const act = useAct();
  const own = slot.requester === me;
  const perform = async () => {
    const done = await act.perform(() =>
      release(api, {
        ...(own ? {} : { requester: slot.requester }),
        ...(slot.command ? { id: slot.command } : {}),
        point: point.point,
      }),
    );
    if (!done) return;
    onClose();
    onDone();
  };
  return (
    <Ask
      title={`Release level ${slot.level} of ${plain(point.point)}?`}
      label="Release it"
      busy={act.busy}
      problem={act.problem}
      onDo={() => void perform()}
      onClose={onClose}
    >
      <p>
        {own ? "Your" : `The command of ${whoWords(slot.requester, me)},`}{" "}
        {withUnit(slot.value, point.unit)}, ends. {afterWords(point, slot, me)}
      </p>
    </Ask>
  );
}

function afterWords(point: ControlPoint, slot: ControlSlot, me: string): string {
  const rest = point.array.filter((s) => s.command !== slot.command || s.level !== slot.level);
  const [next] = rest;
  if (!next) return "Nobody else commands the point: it goes back.";
  const who = whoWords(next.requester, me);
  if (point.array[0]?.level !== slot.level) return `The point goes on following ${who}.`;
  return `The point then follows ${who} at level ${next.level}: ${withUnit(next.value, point.unit)}.`;
}
