import { useCallback } from "preact/hooks";
import type { Api } from "../api";
import { Problem } from "../api";
import { plain } from "../format";
import type { Alarms, Dashboard } from "../generated/api";
import { usePoll } from "../use-poll";
import { Board } from "./board";
import { useSource } from "./board-values";
import { boardAddress, getDashboard, listDashboards, templateFor, type Which } from "./calls";
import "./dashboard.css";

interface Props {
  api: Api;
  alarms: Alarms | undefined;
  epoch: number;
}

/** What the home page shows, and where it is kept; undefined for what is made of the points. */
interface Home {
  dashboard: Dashboard;
  which: Which | undefined;
}

async function orNothing<T>(asked: Promise<T>): Promise<T | undefined> {
  try {
    return await asked;
  } catch (err) {
    if (err instanceof Problem && err.status < 500) return undefined;
    throw err;
  }
}

/** One's own dashboard of the name home, or that for all, or else one made of what the node has. */
async function askHome(api: Api): Promise<Home | undefined> {
  const list = await orNothing(listDashboards(api));
  const homes = (list?.dashboards ?? []).filter((d) => d.name === "home" && !d.wrong);
  const kept = homes.find((d) => d.sharing === "owner") ?? homes[0];
  if (kept) {
    const which = { name: "home", sharing: kept.sharing === "owner" ? "owner" : "all" } as const;
    return { dashboard: (await getDashboard(api, which)).dashboard, which };
  }
  const made = list && (await orNothing(templateFor(api, "")));
  return made && { dashboard: made.dashboard, which: undefined };
}

/** The building: how it feels, what it draws, what is on. A node of an older version has none. */
export default function HomeBoard({ api, alarms, epoch }: Props) {
  const ask = useCallback(() => askHome(api), [api]);
  const { data, problem } = usePoll(ask, 60_000, epoch);
  if (problem && !data) return <p class="problem">{plain(problem)}</p>;
  if (!data) return null;
  return <Building api={api} epoch={epoch} alarms={alarms} home={data} />;
}

function Building({ api, alarms, epoch, home }: Props & { home: Home }) {
  const { dashboard, which } = home;
  const source = useSource(api, dashboard.tiles, epoch);
  return (
    <section class="home-board" aria-labelledby="home-board-title">
      <header class="board-head">
        <h2 id="home-board-title">{which ? plain(dashboard.title || "Home") : "The building"}</h2>
        <p class="actions">
          {which ? (
            <a href={boardAddress(which)}>Open it</a>
          ) : (
            <a href="/dashboards?home&edit">Arrange it yourself</a>
          )}
          <a href="/dashboards">All dashboards</a>
        </p>
      </header>
      <Board tiles={dashboard.tiles} source={source} alarms={alarms} />
    </section>
  );
}
