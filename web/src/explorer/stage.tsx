import type { Api } from "../api";
import type { NotedAnnotation } from "../generated/api";
import { Annotations } from "./annotations";
import { Chart } from "./chart";
import { frameOf, type Series } from "./frame";
import { ShapeView } from "./shape-views";
import { StatisticsSection } from "./statistics-section";
import { SampleTable } from "./table";
import { TakeAlong } from "./take-along";
import { TakeSheet } from "./take-sheet";
import { Toolbar } from "./toolbar";
import type { Kept } from "./use-kept";
import type { Shown } from "./use-shown";
import type { Moving } from "./use-window";
import { type ExplorerView, stepOf } from "./view";
import { wordsOf } from "./words";

/** What all ways of showing a view need. */
export interface StageProps {
  api: Api;
  view: ExplorerView;
  /** The points that the node knows. */
  asked: readonly string[];
  moving: Moving;
  shown: Shown;
  cursor: number | undefined;
  /** The time zone of what is shown. */
  zone: string;
  /** The configured zone of the site, "" without one. */
  site: string;
  role: string;
  /** What people noted. */
  notes: Kept<NotedAnnotation>;
  onShow(next: ExplorerView): void;
  onCursor(time: number | undefined): void;
  onWidth(pixels: number): void;
}

/** The tools, what is shown, and statistics below. */
export function Stage(props: StageProps) {
  const { api, view, asked, moving, shown, zone, onShow } = props;
  const [from, to] = moving.window;
  const about = { zone, ...wordsOf(view, stepOf(view, moving.window)), link: location.href };
  return (
    <div class="explore-main">
      <section class="card explore-card" aria-label="Curves">
        <Toolbar view={view} moving={moving} onShow={onShow} zone={zone} now={api.now()}>
          <TakeAlong points={asked} from={from} to={to}>
            <TakeSheet frame={() => frameOf(seriesOf(shown, view), moving.window)} about={about} />
          </TakeAlong>
        </Toolbar>
        <Content {...props} />
      </section>
      <Annotations
        api={api}
        role={props.role}
        points={asked}
        window={moving.window}
        zone={zone}
        kept={props.notes}
      />
      {view.statistics && (
        <StatisticsSection
          api={api}
          view={view}
          points={asked}
          window={moving.window}
          shown={shown}
        />
      )}
    </div>
  );
}

/** The series of a view, each point with what stands beside it. */
function seriesOf({ loaded, computed, differences }: Shown, view: ExplorerView): Series[] {
  const all = [...loaded, ...computed];
  return [...view.points, ...view.formulas].flatMap((name) => {
    const own = all.find((c) => c.point === name && !c.ghost);
    const ghost = all.find((c) => c.point === name && c.ghost);
    const difference = differences.find((c) => c.point === name);
    const role = view.formulas.includes(name) ? "computed" : "value";
    return [
      ...(own ? [{ role, curve: own } as const] : []),
      ...(ghost ? [{ role: "before", curve: ghost } as const] : []),
      ...(difference ? [{ role: "difference", curve: difference } as const] : []),
    ];
  });
}

function Content(props: StageProps) {
  const { api, view, asked, moving, shown, zone } = props;
  if (view.show === "table") {
    return (
      <SampleTable
        api={api}
        view={{ ...view, points: asked }}
        window={moving.window}
        shown={shown}
        zone={zone}
      />
    );
  }
  return view.show === "plot" ? <Chart {...props} /> : <ShapeView {...props} />;
}
