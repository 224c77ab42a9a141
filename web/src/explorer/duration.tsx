import { useCallback, useMemo } from "preact/hooks";
import { unit } from "../format";
import { inkOf } from "../plot-axes";
import type { Curve } from "../series";
import { drawAxes, type Frame, roomy } from "./axes";
import { Canvas, type Pen } from "./canvas";
import { boundsOf, type Lasting, lastingOf } from "./shapes";
import type { StageProps } from "./stage";

interface Line {
  curve: Curve;
  lasting: Lasting;
}

/** For each series of the unit of the first one, how long which value is reached or exceeded. */
export function DurationView({ list, ...props }: StageProps & { list: readonly Curve[] }) {
  const { moving, shown } = props;
  const named = list[0]?.unit ?? "";
  const [from, to] = moving.window;
  const lines = useMemo(() => {
    const all = [...shown.loaded, ...shown.computed].filter((c) => c.unit === named);
    return all.map((curve) => ({ curve, lasting: lastingOf(curve, [from, to]) }));
    // The version stands for the curves' content
  }, [shown.loaded, shown.computed, shown.version, named, from, to]);
  const draw = useCallback((pen: Pen) => drawLines(pen, lines, named), [lines, named]);
  const others = list.filter((c) => c.unit !== named).length;
  const hours = Math.max(0, ...lines.map((l) => l.lasting.covered)) / 3_600_000;
  return (
    <>
      <Canvas
        label={`Duration curve of ${lines.length} series in ${unit(named) || "no unit"}`}
        draw={draw}
      />
      <p class="quiet plot-foot">
        <span role="status" aria-label="Duration">
          100 % are {hours.toFixed(1)} h with values.
          {others > 0 && ` ${others} series of other units are not shown.`}
        </span>
      </p>
    </>
  );
}

function drawLines(pen: Pen, lines: readonly Line[], named: string): void {
  const { ctx, ink } = pen;
  const ys = roomy(
    boundsOf(lines.flatMap((l) => [l.lasting.values[0] ?? null, l.lasting.values.at(-1) ?? null])),
  );
  const frame = drawAxes(
    pen,
    { bounds: [0, 100], label: "% of the time with values" },
    { bounds: ys, label: unit(named) },
  );
  lines.forEach(({ curve, lasting }, i) => {
    ctx.strokeStyle = inkOf(curve.ink ?? i, ink);
    ctx.lineWidth = 1.5;
    ctx.setLineDash(curve.ghost ? [5, 4] : []);
    ctx.globalAlpha = curve.ghost ? 0.6 : 1;
    trace(ctx, frame, lasting);
  });
  ctx.setLineDash([]);
  ctx.globalAlpha = 1;
}

function trace(ctx: CanvasRenderingContext2D, frame: Frame, { shares, values }: Lasting): void {
  ctx.beginPath();
  values.forEach((v, i) => {
    const begin = i === 0 ? 0 : (shares[i - 1] ?? 0);
    if (i === 0) ctx.moveTo(frame.x(0), frame.y(v));
    else ctx.lineTo(frame.x(begin * 100), frame.y(v));
    ctx.lineTo(frame.x((shares[i] ?? 1) * 100), frame.y(v));
  });
  ctx.stroke();
}
