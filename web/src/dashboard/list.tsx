import { useCallback, useMemo } from "preact/hooks";
import { age, count, plain, plural } from "../format";
import type { ListedDashboard } from "../generated/api";
import { reasonOf } from "../language/said";
import { inNaturalOrder } from "../natural-order";
import { nameOf, parentOf } from "../path";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { boardAddress, deviceBoardAddress, listDashboards } from "./calls";

const calm = 15_000;
const mostDevices = 60;

/** The dashboards that somebody keeps, and those that devices have by themselves. */
export function DashboardList({ api, epoch, books }: ScreenProps) {
  const ask = useCallback(() => listDashboards(api), [api]);
  const { data, problem } = usePoll(ask, calm, epoch);
  const now = api.now();
  const devices = useMemo(
    () => inNaturalOrder(books?.devices ?? [], (d) => d.path),
    [books?.devices],
  );
  return (
    <div class="screen board-screen">
      <header class="board-head">
        <div>
          <h1>Dashboards</h1>
          <p class="quiet">
            Arranged by people for what they watch. The one named home is shown on the home page.
          </p>
        </div>
        <p class="actions">
          <a class="button primary" href="/dashboards?edit">
            New dashboard
          </a>
        </p>
      </header>
      {problem && !data && <p class="problem">{plain(problem)}</p>}
      {data?.dashboards.length === 0 && (
        <p class="card panel quiet">
          Nobody keeps a dashboard yet. Begin with an empty one, or keep a copy of one that a device
          has by itself.
        </p>
      )}
      <ul class="board-list" aria-label="Kept dashboards">
        {data?.dashboards.map((d) => (
          <Item key={`${d.sharing} ${d.name}`} listed={d} now={now} />
        ))}
      </ul>
      {devices.length > 0 && (
        <section aria-labelledby="by-themselves">
          <h2 id="by-themselves">Devices have one by themselves</h2>
          <ul class="board-devices">
            {devices.slice(0, mostDevices).map((d) => (
              <li key={d.path}>
                <a href={deviceBoardAddress(d.path)}>
                  <strong>{plain(nameOf(d.path))}</strong>
                  <span class="quiet">{plain(parentOf(d.path))}</span>
                </a>
              </li>
            ))}
          </ul>
          {devices.length > mostDevices && (
            <p class="quiet">
              {count(devices.length - mostDevices)} more: each device's page leads to its own.
            </p>
          )}
        </section>
      )}
    </div>
  );
}

function Item({ listed: d, now }: { listed: ListedDashboard; now: number }) {
  const which = { name: d.name, sharing: d.sharing === "owner" ? "owner" : "all" } as const;
  return (
    <li class="card">
      <a href={boardAddress(which)}>
        <strong>{plain(d.title)}</strong>
      </a>
      <p class="quiet">
        {plural(d.tiles, "tile")}, {d.sharing === "owner" ? "seen by you only" : "for all"}
      </p>
      <p class="quiet">
        {plain(d.by)}, {age(now - Date.parse(d.at))} ago
      </p>
      {d.wrong && <p class="problem">{reasonOf(d.wrong)}</p>}
    </li>
  );
}
