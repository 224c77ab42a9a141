import { useState } from "preact/hooks";
import type { Api } from "../api";
import { count, dateTime, percent, plain } from "../format";
import type { SinkState } from "../generated/api";
import { wordsOf } from "../use-poll";
import { historyShare } from "./words";

interface Props {
  api: Api;
  sink: SinkState;
  mayAsk: boolean;
  onAsked(): void;
}

/** Has the destination get the history since a day, and shows how far that is. */
export function Backfill({ api, sink: s, mayAsk, onAsked }: Props) {
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const share = historyShare(s);
  const ask = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await api.send("POST", `sinks/${encodeURIComponent(s.name)}/backfill`, {
        from,
        ...(to ? { to } : {}),
      });
      onAsked();
    } catch (err) {
      setProblem(wordsOf(err));
    }
    setBusy(false);
  };
  return (
    <section class="card panel" aria-labelledby="history-title">
      <h2 id="history-title">From the history</h2>
      {share !== undefined && (
        <div class="destination-progress">
          <progress aria-label="History sent" max={1} value={share} />
          <span>
            {percent(share, 1)}: sent up to{" "}
            {dateTime(Date.parse(s.history_sent_to ?? s.history_from ?? ""))} of{" "}
            {dateTime(Date.parse(s.history_to ?? ""))}
          </span>
        </div>
      )}
      {share === undefined && (
        <p class="quiet">
          {s.filled > 0
            ? `${count(s.filled)} readings were sent from the history.`
            : "It gets what is recorded since it was added. The history can be sent, too."}
        </p>
      )}
      {mayAsk && share === undefined && (
        <form class="destination-form" onSubmit={(event) => void ask(event)}>
          <label>
            From the day
            <input
              type="date"
              required
              value={from}
              onInput={(e) => setFrom(e.currentTarget.value)}
            />
          </label>
          <label>
            To the day <span class="quiet">not with it; empty: until now</span>
            <input type="date" value={to} onInput={(e) => setTo(e.currentTarget.value)} />
          </label>
          <p class="actions">
            <button type="submit" class="primary" disabled={busy}>
              Send the history
            </button>
          </p>
        </form>
      )}
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
    </section>
  );
}
