import { useState } from "preact/hooks";
import type { Api, Session } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { Dashboard } from "../generated/api";
import { Icon } from "../shell/icons";
import { go } from "../shell/place";
import { includes } from "../shell/role";
import { boardAddress, deleteDashboard, deviceBoardAddress, type Which } from "./calls";
import { BoardHistory } from "./history";

interface Props {
  api: Api;
  session: Session;
  dashboard: Dashboard;
  version: number;
  /** Undefined for one that nobody has kept. */
  which: Which | undefined;
  device?: string;
}

/** Whether a person may change a dashboard: their own always, that for all as an operator. */
export const mayChange = (session: Session, which: Which) =>
  which.sharing === "owner" || includes(session.role, "operator");

/** The title of a dashboard, and what can be done with it. */
export function ShownHead({ api, session, dashboard, version, which, device }: Props) {
  const [history, setHistory] = useState(false);
  const act = useAct();
  const title = plain(dashboard.title || dashboard.name) || "Dashboard";
  const editable = which !== undefined && mayChange(session, which);
  const remove = async () => {
    if (!which || !confirm(`Delete the dashboard “${title}”? Its history stays.`)) return;
    if (await act.perform(() => deleteDashboard(api, which))) go("/dashboards");
  };
  return (
    <header class="board-head">
      <div>
        <h1>{title}</h1>
        {dashboard.description && !device && <p class="quiet">{plain(dashboard.description)}</p>}
      </div>
      <p class="actions">
        {device && (
          <a class="button primary" href={`${deviceBoardAddress(device)}&edit`}>
            Keep a copy
          </a>
        )}
        {editable && (
          <a class="button" href={boardAddress(which, "&edit")}>
            Arrange
          </a>
        )}
        {which && (
          <>
            <button type="button" aria-expanded={history} onClick={() => setHistory(!history)}>
              History
            </button>
            <button type="button" onClick={() => void wall(which)}>
              <Icon name="system" /> Full screen
            </button>
          </>
        )}
        {editable && (
          <button type="button" disabled={act.busy} onClick={() => void remove()}>
            Delete
          </button>
        )}
      </p>
      {act.problem && (
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
      )}
      {history && which && (
        <BoardHistory api={api} which={which} version={version} editable={editable} />
      )}
    </header>
  );
}

/** Shows a dashboard without the menu, over the whole screen if the browser lets it. */
async function wall(which: Which): Promise<void> {
  go(boardAddress(which, "&kiosk"));
  await document.documentElement.requestFullscreen?.().catch(() => undefined);
}
