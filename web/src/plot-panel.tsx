import { useRef, useState } from "preact/hooks";
import { shadowWords } from "./control/shadow";
import { dateTime, plain, unit, value, zoneWords } from "./format";
import { knownWords } from "./last-known";
import { LatePlot } from "./late-plot";
import { nameOf, parentOf } from "./path";
import { beginOf, type Curve, completeness, valueAt } from "./series";
import { type CurveSource, useCurves } from "./use-curves";
import { useTick } from "./use-site";
import { useWidth } from "./use-width";
import { bounds, pan, type Range, ranges, toggle, type View, zoom } from "./view";

interface Props {
  source: Omit<CurveSource, "pixels">;
  view: View;
  onShow(next: View): void;
}

/** The chosen points over time, with the range to choose, their values and their completeness. */
export function PlotPanel({ source, view, onShow }: Props) {
  const { api, live } = source;
  useTick(live);
  const box = useRef<HTMLDivElement>(null);
  const pixels = useWidth(box);
  const { curves, version, problem, missing } = useCurves({ ...source, pixels }, view);
  const [cursor, setCursor] = useState<number>();
  const [earliest, to] = bounds(view.range, api.now());
  const from = "last" in view.range ? beginOf(curves, earliest, to) : earliest;
  const setRange = (range: Range) => onShow({ ...view, range });

  return (
    <section class="card plot-card" aria-labelledby="plot-title">
      <div class="plot-head">
        <h2 id="plot-title">Plot</h2>
        <RangeButtons range={view.range} now={() => api.now()} onRange={setRange} />
      </div>
      <Legend
        points={view.points}
        curves={curves}
        cursor={cursor}
        source={source}
        onRemove={(path) => onShow({ ...view, points: toggle(view.points, path) })}
      />
      <div ref={box} class="plot" role="img" aria-label={describe(view.points, from, to)}>
        {view.points.length === 0 ? (
          <p class="empty">Tick points in the table to see them here.</p>
        ) : (
          <LatePlot
            curves={curves}
            version={version}
            from={from}
            to={to}
            onZoom={(a, b) => setRange({ from: a, to: b })}
            onReset={() => setRange({ last: ranges[0].ms })}
            onCursor={setCursor}
          />
        )}
      </div>
      <p class="quiet plot-foot">
        <span>
          {problem || (curves.length > 0 ? `${completeness(curves)}. ${missing}`.trim() : missing)}
        </span>
        <span>{cursor === undefined ? zoneWords() : dateTime(cursor)}</span>
      </p>
    </section>
  );
}

const describe = (points: readonly string[], from: number, to: number) =>
  points.length === 0
    ? "Empty plot"
    : `Plot of ${points.join(", ")} from ${dateTime(from)} to ${dateTime(to)}`;

interface RangeProps {
  range: Range;
  now(): number;
  onRange(range: Range): void;
}

function RangeButtons({ range, now, onRange }: RangeProps) {
  const buttons = [
    { label: "Earlier", sign: "‹", next: () => pan(range, -1, now()) },
    { label: "Later", sign: "›", next: () => pan(range, 1, now()) },
    { label: "Zoom out", sign: "−", next: () => zoom(range, 1) },
    { label: "Zoom in", sign: "+", next: () => zoom(range, -1) },
  ];
  return (
    <div class="ranges">
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-label="Time range" class="joined">
        {ranges.map((r) => (
          <button
            key={r.key}
            type="button"
            aria-pressed={"last" in range && range.last === r.ms}
            onClick={() => onRange({ last: r.ms })}
          >
            {r.label}
          </button>
        ))}
      </div>
      {/* biome-ignore lint/a11y/useSemanticElements: a fieldset is for forms */}
      <div role="group" aria-label="Move in time" class="joined">
        {buttons.map((b) => (
          <button
            key={b.label}
            type="button"
            class="sign"
            aria-label={b.label}
            title={b.label}
            onClick={() => onRange(b.next())}
          >
            {b.sign}
          </button>
        ))}
      </div>
    </div>
  );
}

interface LegendProps {
  points: readonly string[];
  curves: readonly Curve[];
  cursor: number | undefined;
  source: Omit<CurveSource, "pixels">;
  onRemove(path: string): void;
}

/** What each colour is, and its value under the pointer or else the newest one. */
function Legend({ points, curves, cursor, source, onRemove }: LegendProps) {
  return (
    <ul class="legend" aria-label="Plotted points">
      {points.map((path, i) => {
        const point = source.catalogue.get(path);
        const curve = curves.find((c) => c.point === path);
        const last = source.live.get(path);
        const known = source.live.lastKnown(path);
        const newest = known ? known.value : last?.value;
        const old = known && cursor === undefined ? knownWords(last?.quality ?? "", known) : "";
        const under = curve && cursor !== undefined ? valueAt(curve, cursor) : undefined;
        const shown =
          cursor === undefined ? newest : curve?.kind === "bool" ? asBool(under) : under;
        return (
          <li key={path} title={[path, point?.description].filter(Boolean).join("\n")}>
            <span class={`swatch c${i}`} aria-hidden="true" />
            <span class="name">
              <span class="quiet">{plain(placeOf(path))}</span>
              {plain(nameOf(path))}
            </span>
            <span class={`number${old ? " is-old" : ""}`}>
              {value(shown, point?.unit)} <span class="unit">{unit(point?.unit ?? "")}</span>
              {old && <span class="was"> {old}</span>}
            </span>
            <button
              type="button"
              class="remove"
              aria-label={`Remove ${path} from the plot`}
              onClick={() => onRemove(path)}
            >
              ×
            </button>
          </li>
        );
      })}
    </ul>
  );
}

const asBool = (n: number | null | undefined) => (typeof n === "number" ? n !== 0 : n);

/** The last segment before the name, to tell apart points of one name. */
const placeOf = (path: string) =>
  `${shadowWords(path)}${parentOf(path) ? `${nameOf(parentOf(path))}/` : ""}`;
