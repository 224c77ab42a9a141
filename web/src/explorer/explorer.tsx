import { useCallback, useMemo, useState } from "preact/hooks";
import type { Api, Point } from "../api";
import { LiveValues } from "../live";
import { go } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import { mostPoints, usePoints, useTick } from "../use-site";
import { useStream } from "../use-stream";
import { streamed } from "./streamed";
import "./explorer.css";
import { reasonOf } from "../language/said";
import { useLastKnown } from "../last-known";
import { Formulas } from "./formulas";
import { Legend } from "./legend";
import { Picker } from "./picker";
import { SavedViews } from "./saved-views";
import { Stage } from "./stage";
import { useAnnotations } from "./use-kept";
import { useNewest } from "./use-newest";
import { useShown } from "./use-shown";
import { useMovingWindow } from "./use-window";
import {
  type ExplorerView,
  formatExplorer,
  mostCurves,
  parseExplorer,
  stepOf,
  zoneOf,
} from "./view";

/** Any points over any time: curves or a table, compared, summarised, and taken along. */
export function ExplorerScreen({ api, place, session, epoch: returns }: ScreenProps) {
  const view = useView(place.search);
  const show = useCallback(
    (next: ExplorerView, how: "push" | "replace" = "push") => go(formatExplorer(next), how),
    [],
  );
  const { source, points, link } = useSource(api, view.points, returns);
  const [asked, unknown] = useKnown(view.points, points.data, source.catalogue);
  useNewest(api, asked, source.live, source.epoch);
  useLastKnown(api, source.live, asked);
  const moving = useMovingWindow(api, view.range, (range) => show({ ...view, range }, "replace"));
  const site = session.time_zone ?? "";
  const zone = zoneOf(view.clock, site);
  const [cursor, setCursor] = useState<number>();
  const [pixels, setPixels] = useState(800);
  const looked = { ...view, points: asked, step: stepOf(view, moving.window) };
  const shown = useShown(source, looked, moving.window, { pixels, zone });
  const notes = useAnnotations(api, asked, moving.window, source.epoch);
  const role = session.role;
  const stage = { role, notes, api, view, asked, moving, shown, cursor, zone, site, onShow: show };

  return (
    <div class="explore">
      <h1 class="unseen">Explore</h1>
      <Stage {...stage} onCursor={setCursor} onWidth={setPixels} />
      <div class="explore-side">
        <Picker
          points={points.data}
          problem={points.problem}
          chosen={view.points}
          onExpect={shown.expect}
          onChoose={(next) => show({ ...view, points: next.slice(0, mostCurves) })}
        />
        <Legend
          points={view.points}
          unknown={unknown}
          shown={shown}
          window={moving.window}
          cursor={view.show === "plot" ? cursor : undefined}
          source={source}
          onAdd={(path) => show({ ...view, points: [...view.points, path].slice(0, mostCurves) })}
          onRemove={(path) => show({ ...view, points: view.points.filter((p) => p !== path) })}
          onClear={() => show({ ...view, points: [], formulas: [] })}
        />
        {view.points.length > 0 && (
          <Formulas
            known={shown.known}
            reads={shown.reads}
            curves={shown.computed}
            first={asked.length}
            cursor={view.show === "plot" ? cursor : undefined}
            onChange={(formulas) => show({ ...view, formulas })}
          />
        )}
        <SavedViews api={api} role={role} epoch={source.epoch} link={formatExplorer(view)} />
        {link.state === "lost" && link.why !== "" && (
          <p class="problem" role="status">
            Live values are halted, trying again. {reasonOf(link.why)}
          </p>
        )}
      </div>
    </div>
  );
}

/** What the screen is fed with: the points that there are, and the live values of those in view. */
function useSource(api: Api, shown: readonly string[], returns: number) {
  const live = useMemo(() => new LiveValues(), []);
  useTick(live);
  const { link, epoch: reopened } = useStream(api, streamed(shown), live);
  const epoch = returns + reopened;
  const points = usePoints(api, epoch);
  const catalogue = useMemo(
    () => new Map((points.data ?? []).map((p) => [p.path, p])),
    [points.data],
  );
  return { source: { api, live, catalogue, epoch }, points, link };
}

/** The view of an address; points and range keep their identity while they stay the same. */
function useView(search: string): ExplorerView {
  const view = useMemo(() => parseExplorer(search), [search]);
  const points = useMemo(() => view.points, [view.points.join("\n")]);
  const range = useMemo(() => view.range, [JSON.stringify(view.range)]);
  const formulas = useMemo(() => view.formulas, [view.formulas.join("\n")]);
  return { ...view, points, range, formulas };
}

const noPoints: readonly string[] = [];

/** The points that the node knows, and those that it does not (any more). */
function useKnown(
  points: readonly string[],
  all: readonly Point[] | undefined,
  catalogue: ReadonlyMap<string, Point>,
): [known: readonly string[], unknown: readonly string[]] {
  return useMemo(() => {
    if (!all || all.length >= mostPoints) return [points, noPoints];
    const unknown = points.filter((p) => !catalogue.has(p));
    return unknown.length === 0
      ? [points, noPoints]
      : [points.filter((p) => catalogue.has(p)), unknown];
  }, [points, all, catalogue]);
}
