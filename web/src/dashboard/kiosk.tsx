import { useCallback, useEffect, useState } from "preact/hooks";
import { clock, plain } from "../format";
import type { KeptDashboard } from "../generated/api";
import { go } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { Board } from "./board";
import { useSource } from "./board-values";
import { boardAddress, getDashboard, type Which } from "./calls";
import { useClock } from "./clock";

const usual = 30;

/** What a wall shows: the dashboard of the path, then those of "also", each for "every" seconds. */
export function tourOf(first: Which | undefined, search: string): { tour: Which[]; every: number } {
  const params = new URLSearchParams(search);
  const also = params
    .getAll("also")
    .flatMap((names) => names.split(","))
    .filter((name) => name !== "")
    .map((name) => ({ name, sharing: "all" as const }));
  const every = Number(params.get("every"));
  return {
    tour: [...(first ? [first] : []), ...also],
    every: every >= 5 && every <= 86_400 ? every : usual,
  };
}

/** A dashboard without a menu, for a screen on a wall; several one after the other. */
export function Kiosk(props: ScreenProps & { first: Which | undefined }) {
  const { place, first } = props;
  const { tour, every } = tourOf(first, place.search);
  const [at, setAt] = useState(0);
  useEffect(() => {
    if (tour.length < 2) return;
    const timer = setInterval(() => setAt((n) => n + 1), every * 1000);
    return () => clearInterval(timer);
  }, [tour.length, every]);
  const which = tour[at % Math.max(1, tour.length)];
  useLeave(which);
  if (!which) return <p class="asking">Name a dashboard in the address.</p>;
  return <Wall key={`${which.sharing} ${which.name}`} {...props} which={which} of={tour.length} />;
}

/** Escape, or the end of the full screen, leads back to the menu. */
function useLeave(which: Which | undefined): void {
  const address = which ? boardAddress(which) : "/dashboards";
  useEffect(() => {
    const leave = () => go(address);
    const onKey = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !document.fullscreenElement) leave();
    };
    const onFull = () => {
      if (!document.fullscreenElement) leave();
    };
    addEventListener("keydown", onKey);
    document.addEventListener("fullscreenchange", onFull);
    return () => {
      removeEventListener("keydown", onKey);
      document.removeEventListener("fullscreenchange", onFull);
    };
  }, [address]);
}

function Wall(props: ScreenProps & { which: Which; of: number }) {
  const { api, epoch, which } = props;
  const { name, sharing } = which;
  const ask = useCallback(() => getDashboard(api, { name, sharing }), [api, name, sharing]);
  const { data, problem } = usePoll(ask, 30_000, epoch);
  if (!data) return <p class="asking">{plain(problem) || "Asking for the dashboard…"}</p>;
  return <WallBoard {...props} kept={data} />;
}

function WallBoard({ api, epoch, alarms, kept }: ScreenProps & { kept: KeptDashboard }) {
  const { dashboard } = kept;
  const source = useSource(api, dashboard.tiles, epoch);
  const now = useClock(api);
  return (
    <div class="screen board-screen is-wall">
      <header class="board-head">
        <h1>{plain(dashboard.title || dashboard.name)}</h1>
        <p class="quiet number">{clock(now)}</p>
      </header>
      <Board tiles={dashboard.tiles} source={source} alarms={alarms.data} />
    </div>
  );
}
