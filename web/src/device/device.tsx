import { useCallback, useMemo } from "preact/hooks";
import type { Api, Device, Point, PointPage, Session } from "../api";
import { useHappenings } from "../control/use-control";
import { count, plain } from "../format";
import { useLastKnown } from "../last-known";
import type { LiveValues } from "../live";
import { LiveValues as Values } from "../live";
import { ancestorsOf, isUnder, nameOf, patternFor } from "../path";
import { PlotPanel } from "../plot-panel";
import {
  branchAddress,
  deviceAddress,
  deviceAt,
  exploreAddress,
  go,
  type Place,
} from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { firstCurves } from "../site/choose";
import { PointsTable } from "../site/points-table";
import { usePoll } from "../use-poll";
import { useTick } from "../use-site";
import { useStream } from "../use-stream";
import { bounds, formatView, parseView, ranges, toggle, type View } from "../view";
import "./device.css";
import { Controls } from "./controls";
import { Condition, LineMates, Statistics } from "./facts";
import { concerns } from "./quality";

/** One device: its state and what to do, its live points, its recent plot, and its line. */
export function DeviceScreen({ api, session, place, books, problem, epoch }: ScreenProps) {
  const path = deviceAt(place);
  const device = books?.devices.find((d) => d.path === path);
  if (!books) return <p class="asking">{problem || "Asking the node for its devices…"}</p>;
  if (!device) return <Unknown path={path} />;
  return (
    <div class="screen device-screen">
      <header class="device-title">
        <Way path={path} />
        <h1>{plain(nameOf(path)) || "(no name)"}</h1>
        <p class="actions">
          <a class="button" href={`/dashboards?${new URLSearchParams({ device: path })}`}>
            Dashboard of this device
          </a>
          {includes(session.role, "engineer") && (
            <a class="button" href="/settings">
              Change its configuration
            </a>
          )}
        </p>
      </header>
      <DevicePage
        key={path}
        api={api}
        epoch={epoch}
        place={place}
        session={session}
        device={device}
        devices={books.devices}
      />
    </div>
  );
}

const Unknown = ({ path }: { path: string }) => (
  <div class="card nothing">
    <h1>There is no device “{plain(path)}”</h1>
    <p>It may have been removed from the configuration. Its history is kept.</p>
    <p class="actions">
      <a class="button" href={branchAddress("")}>
        Look at the site
      </a>
    </p>
  </div>
);

/** The branches above a device. */
function Way({ path }: { path: string }) {
  return (
    <nav class="way-up quiet" aria-label="Branches above">
      {ancestorsOf(path).map((branch) => (
        <span key={branch}>
          <a href={branchAddress(branch)}>{plain(nameOf(branch)) || "(no name)"}</a> /{" "}
        </span>
      ))}
    </nav>
  );
}

interface Props {
  api: Api;
  epoch: number;
  place: Place;
  session: Session;
  device: Device;
  devices: readonly Device[];
}

function DevicePage({ api, epoch: returns, place, session, device, devices }: Props) {
  const live = useMemo(() => new Values(), []);
  const happenings = useHappenings();
  const { epoch: reopened } = useStream(api, [device.path], live, happenings.happened);
  const epoch = returns + reopened;
  const { data: points, problem } = usePointsOf(api, device.path, epoch);
  useLatestOf(api, device.path, live, epoch);
  useLastKnown(
    api,
    live,
    useMemo(() => (points ?? []).map((p) => p.path), [points]),
  );
  const [view, show] = useDeviceView(place, device.path, points);
  const catalogue = useMemo(() => new Map((points ?? []).map((p) => [p.path, p])), [points]);
  const plot = useCallback(
    (point: string) => view && show({ ...view, points: toggle(view.points, point) }),
    [view, show],
  );
  const now = api.now();
  return (
    <div class="device-page">
      <div class="device-main">
        <Condition device={device} now={now} />
        {points && view && (
          <>
            <Concerns points={points} live={live} now={() => api.now()} />
            {points.some((p) => p.writable) && (
              <Controls device={device.path} {...{ api, session, happenings, epoch }} />
            )}
            <section class="card table-card" aria-labelledby="table-title">
              <div class="device-table-head">
                <h2 id="table-title">Points</h2>
                <a class="link" href={exploreAddress(view.points, ...bounds(view.range, now))}>
                  Explore the history
                </a>
              </div>
              <PointsTable
                branch={device.path}
                points={points}
                live={live}
                plotted={view.points}
                now={() => api.now()}
                onToggle={plot}
              />
            </section>
            <PlotPanel source={{ api, live, catalogue, epoch }} view={view} onShow={show} />
          </>
        )}
        {!points && <p class="asking">{problem || "Asking for its points…"}</p>}
      </div>
      <div class="device-side">
        <Statistics device={device} now={now} />
        <LineMates device={device} devices={devices} />
      </div>
    </div>
  );
}

function usePointsOf(api: Api, path: string, epoch: number) {
  const ask = useCallback(async () => {
    const page = await api.get<PointPage>("points", { pattern: patternFor(path), limit: 5000 });
    return page.points.filter((p) => isUnder(p.path, path));
  }, [api, path]);
  return usePoll(ask, 60_000, epoch);
}

/** Brings what is known already, so that nobody waits for the next read. */
function useLatestOf(api: Api, path: string, live: LiveValues, epoch: number): void {
  const ask = useCallback(async () => {
    const at = api.now();
    live.applyLatest(await api.latest(patternFor(path)), at);
  }, [api, path, live]);
  usePoll(ask, 30_000, epoch);
}

/** What the plot shows, as the address says it, or else two curves of the last quarter of an hour. */
function useDeviceView(
  place: Place,
  path: string,
  points: readonly Point[] | undefined,
): [View | undefined, (next: View) => void] {
  const view = useMemo(() => {
    const said = parseView(place.search);
    if (said || !points) return said;
    return { branch: path, points: firstCurves(points), range: { last: ranges[0].ms } };
  }, [place.search, path, points]);
  const show = useCallback(
    (next: View) => {
      const home = deviceAddress(path);
      const query = formatView({ ...next, branch: path });
      go(home + (home.includes("?") ? query.replace("?", "&") : query));
    },
    [path],
  );
  return [view, show];
}

interface ConcernsProps {
  points: readonly Point[];
  live: LiveValues;
  now(): number;
}

const mostNamed = 5;

/** Which points cannot be relied on, and why. */
function Concerns({ points, live, now }: ConcernsProps) {
  useTick(live);
  const found = concerns(points, (path) => live.get(path), now());
  if (live.polledAt === 0 || found.length === 0) return null;
  return (
    <ul class="card panel concerns" aria-label="Points that are not good">
      {found.map((c) => (
        <li key={c.words} class={`is-${c.level}`}>
          <span class="dot" aria-hidden="true" />
          <span>
            <strong>
              {c.points
                .slice(0, mostNamed)
                .map((p) => plain(nameOf(p)))
                .join(", ")}
            </strong>
            {c.points.length > mostNamed && ` and ${count(c.points.length - mostNamed)} more`}:{" "}
            {plain(c.words)}
          </span>
        </li>
      ))}
    </ul>
  );
}
