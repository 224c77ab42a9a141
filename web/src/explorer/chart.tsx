import { useEffect, useMemo, useRef } from "preact/hooks";
import { plain } from "../format";
import { LatePlot, loadPlot } from "../late-plot";
import { pressed } from "../span";
import { useWidth } from "../use-width";
import { dateTimeIn } from "../zone";
import { ClockChoice } from "./clock-choice";
import type { StageProps } from "./stage";
import { type ExplorerView, spans } from "./view";

/** The curves, and how they are moved: by mouse, wheel, fingers and keys. */
export function Chart({ view, moving, shown, cursor, zone, site, notes, ...on }: StageProps) {
  const noted = useMemo(
    () => notes.list.map((a) => ({ from: Date.parse(a.from), to: Date.parse(a.to) })),
    [notes.list],
  );
  const { onShow, onCursor, onWidth } = on;
  const box = useRef<HTMLDivElement>(null);
  const pixels = useWidth(box);
  useEffect(() => onWidth(pixels), [pixels, onWidth]);
  // Whoever chooses points does not wait for it
  useEffect(() => {
    loadPlot().catch(() => undefined);
  }, []);
  const [from, to] = moving.window;
  const onKeyDown = (e: KeyboardEvent) => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const next = pressed(moving.window, e.key);
    if (!next) return;
    e.preventDefault();
    moving.move(next[0], next[1]);
  };
  const setRange = (range: ExplorerView["range"]) => onShow({ ...view, range });

  return (
    <>
      <div
        ref={box}
        class="explore-plot"
        role="application"
        aria-label={describe(view.points, dateTimeIn(from, zone), dateTimeIn(to, zone))}
        aria-describedby="explore-keys"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: the plot is moved by keys
        tabIndex={0}
        onKeyDown={onKeyDown}
      >
        {view.points.length === 0 ? (
          <p class="empty">Search for points and add them to see their history here.</p>
        ) : (
          <LatePlot
            curves={shown.curves}
            version={shown.version}
            from={from}
            to={to}
            shades={shown.shades}
            lanes={shown.lanes}
            notes={noted}
            zone={zone}
            onZoom={(a, b) => setRange({ from: a, to: b })}
            onReset={() => setRange({ last: spans[2].ms })}
            onCursor={onCursor}
            onMove={moving.move}
          />
        )}
        {shown.busy && <span class="explore-busy" aria-hidden="true" />}
      </div>
      <p class="quiet plot-foot">
        <span class={shown.problem ? "problem" : ""} role="status" aria-label="Completeness">
          {plain(shown.problem || shown.coverage)}
        </span>
        <span>
          {cursor === undefined
            ? `${dateTimeIn(from, zone)} to ${dateTimeIn(to, zone)}. `
            : `${dateTimeIn(cursor, zone)} `}
          <ClockChoice view={view} site={site} onShow={onShow} />
        </span>
      </p>
      <p id="explore-keys" class="quiet explore-keys">
        <span class="mouse">
          Drag to zoom, wheel to zoom at the pointer, Shift and drag to move; on the keyboard the
          arrows move, + and − zoom.{" "}
        </span>
        <span class="touch">One finger moves, two zoom. </span>
        The lanes above the curves show where there are samples, red where they are bad, amber where
        they are uncertain; grey behind the curves is time without any.
      </p>
    </>
  );
}

const mostNamed = 5;

function describe(points: readonly string[], from: string, to: string): string {
  if (points.length === 0) return "Empty plot";
  const more = points.length > mostNamed ? ` and ${points.length - mostNamed} more` : "";
  const names = points.slice(0, mostNamed).map(plain).join(", ");
  return `Plot of ${names}${more} from ${from} to ${to}`;
}
