import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain, plural, span } from "../format";
import type { ControlHolder, ControlPoints } from "../generated/api";
import { includes } from "../shell/role";
import { wordsOf } from "../use-poll";
import { Ask } from "./ask";
import { clearOverride, override } from "./calls";
import { newId } from "./draft";
import { useAct } from "./use-act";
import { untilWords, whoWords } from "./words";

interface Props {
  api: Api;
  overrides: readonly ControlHolder[];
  me: string;
  role: string;
  now: number;
  onDone(): void;
}

/** Overrides, and the form to make another. */
export function Overrides(props: Props) {
  const { api, overrides, me, role, now, onDone } = props;
  const [clearing, setClearing] = useState<string>();
  const act = useAct();
  const may = includes(role, "operator");
  const clear = async () => {
    const done = await act.perform(() => clearOverride(api, clearing ?? ""));
    if (done) setClearing(undefined);
    onDone();
  };
  return (
    <section class="card panel" aria-labelledby="overrides-title">
      <h2 id="overrides-title">Overrides</h2>
      {overrides.length === 0 && (
        <p class="quiet">
          No override. Override points while somebody works on the plant: every command is refused
          meanwhile.
        </p>
      )}
      <ul class="control-list" aria-label="Overrides">
        {overrides.map((o) => (
          <li key={o.path} class="is-warn">
            <span class="control-what">
              <span class="dot" aria-hidden="true" /> <strong>{plain(o.path ?? "")}</strong>,{" "}
              {whoWords(o.requester, me)}, {untilWords(o.until, now)}
              {o.reason && <span class="slot-reason quiet">{plain(o.reason)}</span>}
            </span>
            {may && (
              <button
                type="button"
                aria-label={`Clear the override of ${plain(o.path ?? "")}`}
                onClick={() => {
                  act.forget();
                  setClearing(o.path);
                }}
              >
                Clear
              </button>
            )}
          </li>
        ))}
      </ul>
      {may && <NewOverride api={api} onDone={onDone} />}
      {clearing !== undefined && (
        <Ask
          title={`Clear the override of ${plain(clearing)}?`}
          label="Clear it"
          busy={act.busy}
          problem={plain(act.problem)}
          onDo={() => void clear()}
          onClose={() => setClearing(undefined)}
        >
          <p>Commands reach these points again at once, those that are still there too.</p>
        </Ask>
      )}
    </section>
  );
}

const lengths = [900, 3600, 2 * 3600, 8 * 3600, 24 * 3600, 7 * 24 * 3600, 0];

interface Asked {
  id: string;
  selects: string;
}

/** Overrides points, after saying how many they are. */
function NewOverride({ api, onDone }: { api: Api; onDone(): void }) {
  const [pattern, setPattern] = useState("");
  const [length, setLength] = useState(2 * 3600);
  const [reason, setReason] = useState("");
  const [failsafe, setFailsafe] = useState(false);
  const [asked, setAsked] = useState<Asked>();
  const act = useAct();
  const look = async (event: Event) => {
    event.preventDefault();
    const selects = await selected(api, pattern).catch(wordsOf);
    setAsked({ id: newId(), selects });
  };
  const perform = async () => {
    const done = await act.perform(() =>
      override(api, {
        id: asked?.id ?? "",
        pattern,
        failsafe,
        ...(length > 0 ? { length } : {}),
        ...(reason.trim() ? { reason: reason.trim() } : {}),
      }),
    );
    if (done) {
      setAsked(undefined);
      setPattern("");
      setReason("");
    }
    onDone();
  };
  return (
    <>
      <form class="control-form" aria-label="Override points" onSubmit={(e) => void look(e)}>
        <label class="control-wide">
          Points, as a path or pattern
          <input
            type="text"
            required
            maxLength={1024}
            spellcheck={false}
            autocapitalize="off"
            placeholder="campus/b1/ahu1 or campus/*/ahu1/**"
            value={pattern}
            onInput={(e) => setPattern(e.currentTarget.value)}
          />
        </label>
        <label>
          For
          <select value={length} onChange={(e) => setLength(Number(e.currentTarget.value))}>
            {lengths.map((s) => (
              <option key={s} value={s}>
                {s === 0 ? "until it is cleared" : span(s * 1000)}
              </option>
            ))}
          </select>
        </label>
        <label>
          Reason
          <input
            type="text"
            maxLength={1000}
            value={reason}
            onInput={(e) => setReason(e.currentTarget.value)}
          />
        </label>
        <label class="control-check control-wide">
          <input
            type="checkbox"
            checked={failsafe}
            onChange={(e) => setFailsafe(e.currentTarget.checked)}
          />
          <span>Failsafe: commands end, and the points go back first</span>
        </label>
        <p class="actions control-wide">
          <button type="submit">Override…</button>
        </p>
      </form>
      {asked && (
        <Ask
          title={`Override ${plain(pattern)}?`}
          label="Override"
          busy={act.busy}
          problem={plain(act.problem)}
          onDo={() => void perform()}
          onClose={() => {
            setAsked(undefined);
            act.forget();
          }}
        >
          <p>
            {asked.selects} {failsafe ? effects.failsafe : effects.frozen}
          </p>
        </Ask>
      )}
    </>
  );
}

const effects = {
  failsafe:
    "Commands end and the points go back; then every command is refused, whatever its level.",
  frozen: "The points stay as they are; every command is refused meanwhile, whatever its level.",
};

/** How many points a pattern selects, in words. */
async function selected(api: Api, pattern: string): Promise<string> {
  const page = await api.get<ControlPoints>("control/points", { pattern, limit: 5000 });
  const writable = page.points.filter((p) => p.writable);
  const busy = writable.filter((p) => p.array.length > 0).length;
  if (writable.length === 0) return "It selects no point that can be set now.";
  const more = page.next === "" ? "" : " at least";
  return `It selects${more} ${plural(writable.length, "point")} that can be set; ${busy === 0 ? "none is" : `${plural(busy, "point")} of them ${busy === 1 ? "is" : "are"}`} commanded now.`;
}
