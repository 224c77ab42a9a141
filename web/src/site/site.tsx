import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import type { Api, Device, Point } from "../api";
import { count, plain } from "../format";
import { useLastKnown } from "../last-known";
import { LiveValues } from "../live";
import { isUnder } from "../path";
import { PlotPanel } from "../plot-panel";
import { branchAddress, go, type Place } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import type { Link } from "../stream";
import { mostPoints, mostStreamed, useLatest, usePoints } from "../use-site";
import { useStream } from "../use-stream";
import { useView } from "../use-view";
import { toggle, type View } from "../view";
import { chooseView } from "./choose";
import { CompletenessPanel } from "./completeness";
import { spanIn } from "./coverage";
import { DevicesPanel } from "./devices-panel";
import { PointsTable } from "./points-table";
import "./site.css";
import { reasonOf } from "../language/said";
import { SiteTree } from "./site-tree";
import {
  type Branch,
  buildTree,
  type Counts,
  countTrouble,
  listedBelow,
  matches,
  shownPoints,
} from "./tree";

const nothing: readonly string[] = [];

/** The site: its tree, the live values of a branch, a plot, and how devices and recording do. */
export function SiteScreen({ api, place, books, problem, epoch: returns }: ScreenProps) {
  const live = useMemo(() => new LiveValues(), []);
  const [view, show] = useView();
  const [scope, setScope] = useState<string>();
  const { link, epoch: reopened } = useStream(api, scope === undefined ? nothing : [scope], live);
  const epoch = returns + reopened;
  const points = usePoints(api, epoch);
  useLatest(api, live, points.data?.length ?? 0, epoch);
  const devices = books?.devices;

  const total = points.data?.length;
  useEffect(() => {
    if (view && total !== undefined) setScope(total <= mostStreamed ? "" : view.branch);
  }, [view, total]);

  useEffect(() => {
    if (view || !points.data || !devices) return;
    const chosen = chooseView(points.data, devices);
    if (chosen) show(chosen, "replace");
  }, [view, points.data, devices, show]);

  if (!view || !points.data)
    return <p class="asking">{points.problem || problem || firstWords(points.data)}</p>;
  return (
    <>
      <Halted link={link} />
      <Site
        api={api}
        live={live}
        epoch={epoch}
        scope={scope}
        view={view}
        points={points.data}
        devices={devices ?? []}
        place={place}
        onShow={show}
      />
    </>
  );
}

/** Says why the node ended the live stream, if it gave a reason. */
function Halted({ link }: { link: Link }) {
  if (link.state !== "lost" || link.why === "") return null;
  return (
    <p class="problem notice" role="status">
      Live values are halted, trying again. {reasonOf(link.why)}
    </p>
  );
}

const firstWords = (points: readonly Point[] | undefined) =>
  points?.length === 0
    ? "The node has no points yet. Add a device to its configuration; it appears here by itself."
    : "Asking the node for its points…";

interface SiteProps {
  api: Api;
  live: LiveValues;
  epoch: number;
  /** The branch whose values are streamed; those of others are only asked for now and then. */
  scope: string | undefined;
  view: View;
  points: readonly Point[];
  devices: readonly Device[];
  place: Place;
  onShow(next: View): void;
}

function Site({ api, live, epoch, scope, view, points, devices, place, onShow }: SiteProps) {
  const [search, setSearch] = useState("");
  const root = useMemo(
    () =>
      buildTree(
        search ? points.filter((p) => matches(p, search)) : shownPoints(points, view.branch),
      ),
    [points, search, view.branch],
  );
  const trouble = useTrouble(root, live, api, scope);
  const catalogue = useMemo(() => new Map(points.map((p) => [p.path, p])), [points]);
  const listed = useMemo(() => listedBelow(root, view.branch, search), [root, view.branch, search]);
  useLastKnown(
    api,
    live,
    useMemo(() => listed.points.slice(0, mostLookedUp).map((p) => p.path), [listed]),
  );
  const isHeat = place.path === heatPath;
  const span = spanIn(place.search);
  const select = (branch: string) =>
    isHeat ? go(heatAddress(branch, span.key)) : onShow({ ...view, branch });
  const plot = useCallback(
    (path: string) => onShow({ ...view, points: toggle(view.points, path) }),
    [view, onShow],
  );

  return (
    <div class="site-screen">
      <h1 class="unseen">Site</h1>
      <Tabs branch={view.branch} isHeat={isHeat} />
      <div class="site">
        <Navigation branch={view.branch} search={search} onSearch={setSearch}>
          {points.length >= mostPoints && (
            <p class="quiet notice">Only the first {count(mostPoints)} points are shown.</p>
          )}
          <SiteTree
            root={root}
            selected={view.branch}
            trouble={trouble}
            searching={search !== ""}
            onSelect={select}
          />
        </Navigation>
        {isHeat ? (
          <CompletenessPanel
            api={api}
            epoch={epoch}
            branch={view.branch}
            span={span}
            points={points}
            onSpan={(next) => go(heatAddress(view.branch, next.key))}
          />
        ) : (
          <>
            <div class="middle">
              <PlotPanel source={{ api, live, catalogue, epoch }} view={view} onShow={onShow} />
              <section class="card table-card" aria-labelledby="table-title">
                <h2 id="table-title">{plain(listed.branch) || "Whole site"}</h2>
                {listed.note !== "" && <p class="quiet matches-note">{plain(listed.note)}</p>}
                <PointsTable
                  branch={listed.branch}
                  points={listed.points}
                  empty={search ? "No point has all these words." : "No points here."}
                  live={live}
                  plotted={view.points}
                  now={() => api.now()}
                  onToggle={plot}
                />
              </section>
            </div>
            <div class="side">
              <DevicesPanel devices={devices} branch={view.branch} now={api.now()} />
            </div>
          </>
        )}
      </div>
    </div>
  );
}

/** Of how many points the history is asked for the last value. */
const mostLookedUp = 500;

const heatPath = "/site/completeness";

const heatAddress = (branch: string, span: string) =>
  `${heatPath}?${new URLSearchParams({ branch, span })}`;

/** The two faces of the site: what is measured now, and whether the history has holes. */
function Tabs({ branch, isHeat }: { branch: string; isHeat: boolean }) {
  const current = { "aria-current": "page" as const };
  return (
    <nav class="tabs" aria-label="Views of the site">
      <a href={branchAddress(branch)} {...(isHeat ? {} : current)}>
        Values
      </a>
      <a href={heatAddress(branch, "1d")} {...(isHeat ? current : {})}>
        Completeness
      </a>
    </nav>
  );
}

interface NavigationProps {
  branch: string;
  search: string;
  onSearch(text: string): void;
  children: preact.ComponentChildren;
}

/** Search and tree; on a phone the tree is folded away until asked for. */
function Navigation({ branch, search, onSearch, children }: NavigationProps) {
  const [open, setOpen] = useState(false);
  // Whoever chose a branch is done with the tree
  useEffect(() => setOpen(false), [branch]);
  const unfolded = open || search !== "";
  return (
    <nav class={`card navigation${unfolded ? " open" : ""}`} aria-label="Site">
      <div class="find">
        <input
          type="search"
          aria-label="Filter points"
          placeholder="Filter points"
          value={search}
          onInput={(e) => onSearch(e.currentTarget.value)}
        />
        <button type="button" class="fold" aria-expanded={unfolded} onClick={() => setOpen(!open)}>
          Site
        </button>
      </div>
      {children}
    </nav>
  );
}

/** Bad and stale points of each branch, counted each two seconds. */
function useTrouble(
  root: Branch,
  live: LiveValues,
  api: Api,
  scope: string | undefined,
): ReadonlyMap<string, Counts> {
  const [trouble, setTrouble] = useState<ReadonlyMap<string, Counts>>(new Map());
  useEffect(() => {
    const knownUntil = (path: string) =>
      scope !== undefined && isUnder(path, scope) ? api.now() : live.polledAt;
    const look = () => setTrouble(countTrouble(root, (path) => live.get(path), knownUntil));
    look();
    const timer = setInterval(look, 2000);
    return () => clearInterval(timer);
  }, [root, live, api, scope]);
  return trouble;
}
