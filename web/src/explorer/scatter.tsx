import { useCallback, useMemo } from "preact/hooks";
import { count, unit, value } from "../format";
import { inkOf } from "../plot-axes";
import type { Curve } from "../series";
import { drawAxes, line, roomy } from "./axes";
import { Canvas, type Pen } from "./canvas";
import { nameWithUnit, SeriesChoice } from "./series-choice";
import { boundsOf, type Dot, dotsOf, type Regression, regressionOf } from "./shapes";
import type { StageProps } from "./stage";

/** One series against another, with the line of least squares. */
export function ScatterView({ list, ...props }: StageProps & { list: readonly Curve[] }) {
  const { view, moving, onShow, shown } = props;
  const x = list.find((c) => c.point === view.x) ?? list[0];
  const y = list.find((c) => c.point === view.y) ?? list.find((c) => c !== x) ?? x;
  const [from, to] = moving.window;
  // The version stands for the curves' content
  const dots = useMemo(
    () => (x && y ? dotsOf(x, y, [from, to]) : []),
    [x, y, shown.version, from, to],
  );
  const fit = useMemo(() => regressionOf(dots), [dots]);
  const draw = useCallback(
    (pen: Pen) => x && y && drawDots(pen, { x, y, dots, fit }),
    [x, y, dots, fit],
  );
  if (!x || !y) return null;
  return (
    <>
      <p class="shape-head">
        <SeriesChoice
          label="Across"
          list={list}
          chosen={x}
          onChoose={(name) => onShow({ ...view, x: name })}
        />
        <SeriesChoice
          label="Up"
          list={list}
          chosen={y}
          onChoose={(name) => onShow({ ...view, y: name })}
        />
      </p>
      <Canvas
        label={`Scatter of ${nameWithUnit(y)} against ${nameWithUnit(x)}, ${dots.length} dots`}
        draw={draw}
      />
      <p class="quiet plot-foot">
        <span role="status" aria-label="Regression">
          {fit ? fitWords(fit, x, y) : "Too few values for a line."} {count(dots.length)} dots.
        </span>
      </p>
    </>
  );
}

const round = (n: number) =>
  Number(n.toPrecision(4)).toLocaleString("en-US", { maximumSignificantDigits: 4 });

function fitWords({ slope, intercept, r2 }: Regression, x: Curve, y: Curve): string {
  const sign = intercept < 0 ? "−" : "+";
  const per = `${unit(y.unit)}${x.unit ? `/${unit(x.unit)}` : ""}`;
  return `y = ${round(slope)} x ${sign} ${round(Math.abs(intercept))}, R² = ${value(r2)}; the slope is in ${per || "1"}.`;
}

interface Drawn {
  x: Curve;
  y: Curve;
  dots: readonly Dot[];
  fit: Regression | undefined;
}

function drawDots(pen: Pen, { x, y, dots, fit }: Drawn): void {
  const { ctx, ink } = pen;
  const xs = roomy(boundsOf(dots.map((d) => d.x)));
  const ys = roomy(boundsOf(dots.map((d) => d.y)));
  const frame = drawAxes(
    pen,
    { bounds: xs, label: nameWithUnit(x) },
    { bounds: ys, label: nameWithUnit(y) },
  );
  ctx.save();
  ctx.beginPath();
  ctx.rect(frame.left, frame.top, frame.width, frame.height);
  ctx.clip();
  ctx.fillStyle = inkOf(y.ink ?? 0, ink);
  ctx.globalAlpha = dots.length > 500 ? 0.4 : 0.7;
  for (const dot of dots) {
    ctx.beginPath();
    ctx.arc(frame.x(dot.x), frame.y(dot.y), 2.5, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.globalAlpha = 1;
  if (fit) {
    ctx.strokeStyle = ink("--text");
    ctx.lineWidth = 1.5;
    const at = (v: number) => [frame.x(v), frame.y(fit.slope * v + fit.intercept)] as const;
    line(ctx, at(xs[0]), at(xs[1]));
  }
  ctx.restore();
}
