import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain, plural, span } from "../format";
import type { ControlPoint } from "../generated/api";
import { includes } from "../shell/role";
import { Ask } from "./ask";
import { revert } from "./calls";
import { useAct } from "./use-act";
import { whoWords } from "./words";

interface Props {
  api: Api;
  /** A point, or a device or branch with the points below it. */
  path: string;
  /** The points there. */
  points: readonly ControlPoint[];
  me: string;
  role: string;
  onDone(): void;
}

/** Seconds over which points may go back, one after the other. */
const spreads = [0, 60, 600, 3600];

/** Ends every command at and below a path, whoever made it, after asking. */
export function Revert({ api, path, points, me, role, onDone }: Props) {
  const [isAsked, setAsked] = useState(false);
  const [spread, setSpread] = useState(0);
  const [told, setTold] = useState("");
  const act = useAct();
  const held = points.filter((p) => p.array.length > 0);
  if (!includes(role, "engineer")) return null;
  const perform = async () => {
    const done = await act.perform(async () => {
      const { points: many = 0, until } = await revert(api, path, spread);
      const last = until ? `, the last one in ${span(Date.parse(until) - api.now())}` : "";
      setTold(`${plural(many, "point")} ${many === 1 ? "goes" : "go"} back${last}.`);
    });
    if (done) setAsked(false);
    onDone();
  };
  return (
    <div class="revert">
      <button
        type="button"
        disabled={held.length === 0}
        title={held.length === 0 ? "Nothing is commanded here" : "End every command here"}
        onClick={() => {
          act.forget();
          setTold("");
          setAsked(true);
        }}
      >
        Revert…
      </button>
      <p role="status" aria-label="What was reverted" class="quiet">
        {told}
      </p>
      {isAsked && (
        <Ask
          title={`Revert ${plain(path)}?`}
          label="Revert it"
          busy={act.busy}
          problem={plain(act.problem)}
          onDo={() => void perform()}
          onClose={() => setAsked(false)}
        >
          <p>
            {endsWords(held, me)} Reservations and overrides stay, and so does what is commanded
            later.
          </p>
          {held.length > 1 && (
            <label>
              The points go back{" "}
              <select value={spread} onChange={(e) => setSpread(Number(e.currentTarget.value))}>
                {spreads.map((s) => (
                  <option key={s} value={s}>
                    {s === 0 ? "all at once" : `one after the other, over ${span(s * 1000)}`}
                  </option>
                ))}
              </select>
            </label>
          )}
        </Ask>
      )}
    </div>
  );
}

/** What a revert ends, and of whom. */
function endsWords(held: readonly ControlPoint[], me: string): string {
  const slots = held.flatMap((p) => p.array);
  const of = [...new Set(slots.map((s) => whoWords(s.requester, me)))];
  const many = `${plural(slots.length, "command")} on ${plural(held.length, "point")}`;
  return `This ends ${many}, of ${of.join(", ")}. Points then go back.`;
}
