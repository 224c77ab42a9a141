import { useCallback, useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { dateTime, plain } from "../format";
import { usePoll } from "../use-poll";
import { historyOf, restoreDashboard, type Which } from "./calls";

interface Props {
  api: Api;
  which: Which;
  /** The version that is shown. */
  version: number;
  editable: boolean;
}

/** The versions of a dashboard, each of which can be had back. */
export function BoardHistory({ api, which, version, editable }: Props) {
  const [restored, setRestored] = useState(0);
  const { name, sharing } = which;
  const ask = useCallback(() => historyOf(api, { name, sharing }), [api, name, sharing]);
  const { data, problem } = usePoll(ask, 60_000, version + restored);
  const act = useAct();
  const restore = async (to: number) => {
    if (await act.perform(() => restoreDashboard(api, which, to))) setRestored(to);
  };
  const newest = data?.versions[0]?.version;
  return (
    <section class="card panel board-history" aria-label="History of the dashboard">
      <h2>History</h2>
      {(act.problem || problem) && <p class="problem">{plain(act.problem || problem)}</p>}
      {restored > 0 && (
        <p role="status">Version {restored} is back as a new one; it is shown in a moment.</p>
      )}
      <ul>
        {data?.versions.map((v) => (
          <li key={v.version}>
            <span>
              Version {v.version}, {dateTime(Date.parse(v.at))}, {plain(v.by)}
              {v.deleted ? ", deleted" : ""}
              {v.note && <span class="quiet"> {plain(v.note)}</span>}
            </span>
            {v.version === newest && <span class="quiet">shown</span>}
            {editable && v.version !== newest && !v.deleted && (
              <button type="button" disabled={act.busy} onClick={() => void restore(v.version)}>
                Restore version {v.version}
              </button>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}
