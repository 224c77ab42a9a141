import { useMemo, useRef } from "preact/hooks";
import { plain } from "../format";
import type { DashboardTile } from "../generated/api";
import { LatePlot } from "../late-plot";
import { type Live, LiveValues } from "../live";
import { beginOf } from "../series";
import { exploreAddress, go } from "../shell/place";
import { useCurves } from "../use-curves";
import { useWidth } from "../use-width";
import { bounds, ranges } from "../view";
import { type Source, useReadings } from "./board-values";
import { doubtWords, labelsOf, valueWords } from "./words";

/** Live values that speak up rarely: a curve does not change visibly with each sample. */
class CalmValues extends LiveValues {
  constructor(
    private readonly source: LiveValues,
    private readonly everyMs: number,
  ) {
    super();
  }

  override get(path: string): Live | undefined {
    return this.source.get(path);
  }

  override listen(listener: () => void): () => void {
    let told = 0;
    return this.source.listen(() => {
      const now = performance.now();
      if (now - told < this.everyMs) return;
      told = now;
      listener();
    });
  }
}

const none: readonly string[] = [];
const nothing = () => {};
const noCatalogue = new Map();

/** Points over time, with what each is now. */
export default function TrendTile({ tile, source }: { tile: DashboardTile; source: Source }) {
  const points = tile.points ?? none;
  const box = useRef<HTMLDivElement>(null);
  const pixels = useWidth(box);
  const ms = ranges.find((r) => r.key === (tile.range ?? "1d"))?.ms ?? ranges[2].ms;
  const { api, live, epoch, catalogue = noCatalogue } = source;
  const calm = useMemo(() => new CalmValues(live, Math.max(1000, ms / pixels)), [live, ms, pixels]);
  // A point that is not there would refuse the history of all
  const known = points.filter((p) => catalogue.has(p)).join("\n");
  const view = useMemo(
    () => ({ branch: "", points: known ? known.split("\n") : [], range: { last: ms } }),
    [known, ms],
  );
  const { curves, version, problem } = useCurves(
    { api, live: calm, catalogue, epoch, pixels },
    view,
  );
  const readings = useReadings(source, points);
  const labels = labelsOf(readings);
  const [from, to] = useMemo(() => {
    const [earliest, end] = bounds(view.range, api.now());
    return [beginOf(curves, earliest, end), end];
  }, [view, version, api, curves]);
  const named = readings.map((_, i) => labels[i]).join(", ");
  return (
    <div class="trend-tile">
      <ul class="chips">
        {readings.map((r, i) => (
          <li key={r.path} class={r.known ? "is-old" : ""} title={plain(r.path)}>
            <span class={`swatch c${i}`} aria-hidden="true" />
            <span class="chip-name">{labels[i]}</span>
            <strong class="number">{valueWords(r)}</strong>
            {r.known && <span class="doubt">{doubtWords(r)}</span>}
          </li>
        ))}
      </ul>
      <div ref={box} class="trend-plot" role="img" aria-label={`Trend of ${named}`}>
        <LatePlot
          curves={inked(curves, points)}
          version={version}
          from={from}
          to={to}
          onZoom={(a, b) => go(exploreAddress(points, a, b))}
          onReset={nothing}
          onCursor={nothing}
        />
      </div>
      {problem && <p class="doubt">{plain(problem)}</p>}
    </div>
  );
}

/** Curves with the colours of their points, also when others have no history. */
const inked = (curves: ReturnType<typeof useCurves>["curves"], points: readonly string[]) => {
  for (const c of curves) c.ink = points.indexOf(c.point);
  return curves;
};
