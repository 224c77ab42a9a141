import { useState } from "preact/hooks";
import type { Api } from "../api";
import { age, dateTime, plain, plural, span } from "../format";
import type { Alert } from "../generated/api";
import { agentAddress } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { wordsOf } from "../use-poll";
import { useAlerts } from "./use-alerts";
import { levelOf, openWords } from "./words";
import "./alerts.css";
import { coded } from "../language/codes";
import { reasonOf } from "../language/said";

/** What agents want people to know, until it is over. */
export function AlertsScreen({ api, session, epoch }: ScreenProps) {
  const { list, problem, again } = useAlerts(api, epoch);
  return (
    <div class="screen alerts-screen">
      <h1>Alerts</h1>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {!list && !problem && <p class="asking">Asking for alerts…</p>}
      {list && (
        <section class="card panel" aria-labelledby="open-title">
          <h2 id="open-title">{list.length === 0 ? "No open alerts" : openWords(list.length)}</h2>
          {list.length === 0 && (
            <p class="quiet">
              Agents raise alerts, such as for a value beyond its limit. An alert closes when its
              agent says that it is over, or when a person clears it.
            </p>
          )}
          <ul class="alerts" aria-label="Open alerts">
            {list.map((a) => (
              <AlertItem
                key={`${a.agent} ${a.key}`}
                api={api}
                alert={a}
                mayClear={includes(session.role, "operator")}
                onCleared={again}
              />
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}

interface ItemProps {
  api: Api;
  alert: Alert;
  mayClear: boolean;
  onCleared(): void;
}

function AlertItem({ api, alert: a, mayClear, onCleared }: ItemProps) {
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const act = async (verb: "clear" | "acknowledge") => {
    setBusy(true);
    try {
      const [agent, key] = [a.agent, a.key].map(encodeURIComponent);
      await api.send("POST", `alerts/${agent}/${key}/${verb}`);
      onCleared();
    } catch (err) {
      setProblem(wordsOf(err));
    }
    setBusy(false);
  };
  const first = Date.parse(a.first);
  const last = Date.parse(a.last);
  return (
    <li class={`is-${levelOf(a)}`}>
      <p class="alert-head">
        <span class="dot" aria-hidden="true" />
        <strong>{coded(plain(a.severity))}</strong>
        <span class="alert-text">{reasonOf(a.text) || plain(a.key)}</span>
      </p>
      <p class="quiet alert-facts">
        <a href={agentAddress(a.agent)}>{plain(a.agent)}</a> says so about {plain(a.key)} for{" "}
        <time dateTime={a.first} title={dateTime(first)}>
          {span(Math.max(0, api.now() - first))}
        </time>
        {a.count > 1 &&
          `, ${plural(a.count, "time")}, last ${agoWords(Math.max(0, api.now() - last))}`}
        .
      </p>
      {problem && (
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
      )}
      {mayClear && (
        <span class="alert-actions">
          {a.unacknowledged && (
            <button
              type="button"
              aria-label={`Acknowledge ${plain(a.key)}`}
              title="Tell the device that you have seen it"
              disabled={busy}
              onClick={() => void act("acknowledge")}
            >
              Acknowledge
            </button>
          )}
          <button
            type="button"
            aria-label={`Clear ${plain(a.key)} of ${plain(a.agent)}`}
            title="End it; it opens again when the agent says so again"
            disabled={busy}
            onClick={() => void act("clear")}
          >
            Clear
          </button>
        </span>
      )}
    </li>
  );
}

const agoWords = (ms: number) => (age(ms) === "now" ? "now" : `${age(ms)} ago`);
