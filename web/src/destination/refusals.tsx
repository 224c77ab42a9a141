import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { count, dateTime, plain, plural } from "../format";
import type { SinkCount, SinkRefusals, SinkState } from "../generated/api";
import { reasonOf } from "../language/said";
import { usePoll, wordsOf } from "../use-poll";

interface Props {
  api: Api;
  sink: SinkState;
  mayChange: boolean;
  onChanged(): void;
}

const shown = 100;
const seldom = 10_000;

/** The readings that a destination refused, to look at, send again or discard. */
export function Refusals({ api, sink: s, mayChange, onChanged }: Props) {
  const [said, setSaid] = useState("");
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const at = `sinks/${encodeURIComponent(s.name)}`;
  const ask = useCallback(
    () => api.get<SinkRefusals>(`${at}/refused`, { limit: shown }),
    [api, at],
  );
  const { data, problem } = usePoll(ask, seldom, s.kept);
  const act = async (what: "resend" | "discard") => {
    setBusy(true);
    setWrong("");
    setSaid("");
    try {
      const { readings, kept } = await api.send<SinkCount>("POST", `${at}/${what}`);
      const did = what === "resend" ? "accepted" : "discarded";
      setSaid(`${plural(readings, "reading")} ${did}, ${count(kept)} still refused.`);
      onChanged();
    } catch (err) {
      setWrong(wordsOf(err));
    }
    setBusy(false);
  };
  const discard = () => {
    if (
      confirm(
        `Discard ${plural(s.kept, "reading")} that ${plain(s.name)} refused? The history of this node keeps them.`,
      )
    )
      void act("discard");
  };
  return (
    <section class="card panel" aria-labelledby="refused-title">
      <h2 id="refused-title">Refused readings</h2>
      {s.kept === 0 && (
        <p class="quiet">None is kept. What a destination will never accept is kept here.</p>
      )}
      {s.kept > 0 && mayChange && (
        <p class="actions">
          <button type="button" class="primary" disabled={busy} onClick={() => void act("resend")}>
            Send again
          </button>
          <button type="button" class="danger" disabled={busy} onClick={discard}>
            Discard
          </button>
        </p>
      )}
      <p role="status" class="done">
        {said}
      </p>
      <p role="alert" class="problem">
        {plain(wrong || problem)}
      </p>
      {data && data.refusals.length > 0 && (
        <ul class="refusals" aria-label="Refused readings">
          {data.refusals.map((r, i) => (
            <li key={i}>
              <strong>{plain(r.point)}</strong>{" "}
              <span class="number">
                {plain(r.value)} {r.quality === "good" ? "" : plain(r.quality)}
              </span>
              <span class="quiet"> of {dateTime(Date.parse(r.time))}</span>
              <p class="problem">{reasonOf(r.reason)}</p>
            </li>
          ))}
        </ul>
      )}
      {data && data.kept > data.refusals.length && (
        <p class="quiet">… and {count(data.kept - data.refusals.length)} more.</p>
      )}
    </section>
  );
}
