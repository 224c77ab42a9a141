import type { Api } from "../api";
import { Chart } from "./chart";
import { StatisticsSection } from "./statistics-section";
import { SampleTable } from "./table";
import { TakeAlong } from "./take-along";
import { Toolbar } from "./toolbar";
import type { Shown } from "./use-shown";
import type { Moving } from "./use-window";
import type { ExplorerView } from "./view";

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
  onShow(next: ExplorerView): void;
  onCursor(time: number | undefined): void;
  onWidth(pixels: number): void;
}

/** The tools, what is shown, and statistics below. */
export function Stage(props: StageProps) {
  const { api, view, asked, moving, shown, zone, onShow } = props;
  const [from, to] = moving.window;
  return (
    <div class="explore-main">
      <section class="card explore-card" aria-label="Curves">
        <Toolbar view={view} moving={moving} onShow={onShow} zone={zone} now={api.now()}>
          <TakeAlong points={asked} from={from} to={to} />
        </Toolbar>
        <Content {...props} />
      </section>
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
  return <Chart {...props} />;
}
