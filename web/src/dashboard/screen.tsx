import { useCallback } from "preact/hooks";
import { plain } from "../format";
import type { Dashboard } from "../generated/api";
import { deviceAddress, type Place } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { Board } from "./board";
import { useSource } from "./board-values";
import { getDashboard, templateFor, type Which } from "./calls";
import { Editor } from "./editor";
import { Kiosk } from "./kiosk";
import { DashboardList } from "./list";
import { ShownHead } from "./shown-head";
import "./dashboard.css";

/** What an address of the screen asks for. */
export interface Wanted {
  which: Which | undefined;
  /** The device whose dashboard it is. */
  device: string;
  /** The dashboard of the home page is arranged for the first time. */
  home: boolean;
  edits: boolean;
  kiosk: boolean;
}

/** Reads the address: which dashboard, and how. */
export function wantedAt({ path, search }: Place): Wanted {
  const params = new URLSearchParams(search);
  let name = "";
  try {
    name = decodeURIComponent(path.split("/")[2] ?? "");
  } catch {
    // somebody cut the address in the middle of a character
  }
  const sharing = params.has("own") ? "owner" : "all";
  return {
    which: name ? { name, sharing } : undefined,
    device: params.get("device") ?? "",
    home: params.has("home"),
    edits: params.has("edit"),
    kiosk: params.has("kiosk"),
  };
}

/** The dashboards: a list, one of them, the one that a device has by itself, or several in turn on a wall. */
export function DashboardsScreen(props: ScreenProps) {
  const { which, device, home, edits, kiosk } = wantedAt(props.place);
  if (kiosk) return <Kiosk {...props} first={which} />;
  if (which) {
    return <Kept key={`${which.sharing} ${which.name}`} {...props} which={which} edits={edits} />;
  }
  if (home) return <OfDevice {...props} device="" edits />;
  if (device) return <OfDevice key={device} {...props} device={device} edits={edits} />;
  if (edits) return <Editor {...props} was={undefined} start={fresh} />;
  return <DashboardList {...props} />;
}

const fresh: Dashboard = { name: "", title: "", sharing: "all", tiles: [] };
const calm = 15_000;

/** A dashboard that is kept; changes of others are seen after a while. */
function Kept(props: ScreenProps & { which: Which; edits: boolean }) {
  const { api, epoch, which, edits } = props;
  const { name, sharing } = which;
  const ask = useCallback(() => getDashboard(api, { name, sharing }), [api, name, sharing]);
  const { data, problem } = usePoll(ask, edits ? 3_600_000 : calm, 2 * epoch + Number(edits)); // anew when editing begins or ends
  if (!data) return problem ? <Lost problem={problem} which={which} /> : <Asking />;
  if (edits) return <Editor {...props} was={data} start={data.dashboard} />;
  return <Shown {...props} dashboard={data.dashboard} version={data.version} which={which} />;
}

/** The dashboard that a device has by itself. */
function OfDevice(props: ScreenProps & { device: string; edits: boolean }) {
  const { api, epoch, device, edits } = props;
  const ask = useCallback(() => templateFor(api, device), [api, device]);
  const { data, problem } = usePoll(ask, 300_000, epoch);
  if (!data) return problem ? <Lost problem={problem} which={undefined} /> : <Asking />;
  const start = device ? data.dashboard : { ...data.dashboard, name: "home" };
  if (edits) return <Editor {...props} was={undefined} start={start} />;
  return (
    <Shown
      {...props}
      dashboard={data.dashboard}
      version={0}
      which={undefined}
      device={device}
      equipment={data.equipment}
    />
  );
}

const Asking = () => <p class="asking">Asking for the dashboard…</p>;

const Lost = ({ problem, which }: { problem: string; which: Which | undefined }) => (
  <div class="card nothing">
    <h1>This dashboard cannot be shown</h1>
    <p>{plain(problem)}</p>
    <p class="actions">
      <a class="button" href="/dashboards">
        All dashboards
      </a>
      {which && <a href="/documents">Its document</a>}
    </p>
  </div>
);

interface ShownProps extends ScreenProps {
  dashboard: Dashboard;
  version: number;
  which: Which | undefined;
  device?: string;
  equipment?: string;
}

/** A dashboard as it is looked at. */
export function Shown(props: ShownProps) {
  const { api, epoch, alarms, dashboard, device, equipment } = props;
  const source = useSource(api, dashboard.tiles, epoch);
  return (
    <div class="screen board-screen">
      <ShownHead {...props} />
      {device && (
        <p class="quiet">
          Made by itself for <a href={deviceAddress(device)}>{plain(device)}</a>, taken for{" "}
          {equipment}. Keep a copy to arrange it.
        </p>
      )}
      {dashboard.tiles.length === 0 && <p class="quiet">It has no tiles yet.</p>}
      <Board tiles={dashboard.tiles} source={source} alarms={alarms.data} />
    </div>
  );
}
