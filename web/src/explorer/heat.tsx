import { useCallback, useMemo, useState } from "preact/hooks";
import { unit, value } from "../format";
import type { Curve } from "../series";
import { isoDay } from "../zone";
import { Canvas, type Pen } from "./canvas";
import { ClockChoice } from "./clock-choice";
import { nameWithUnit, SeriesChoice } from "./series-choice";
import { type Heat, heatOf } from "./shapes";
import type { StageProps } from "./stage";

const left = 78;
const top = 20;
const right = 8;
const bottom = 8;

/** Hours across and days down, the colour is the value. */
export function HeatView({ list, ...props }: StageProps & { list: readonly Curve[] }) {
  const { view, moving, zone, site, onShow, shown } = props;
  const curve = list.find((c) => c.point === view.x) ?? list[0];
  const [from, to] = moving.window;
  // The version stands for the curve's content
  const heat = useMemo(
    () => curve && heatOf(curve, [from, to], zone),
    [curve, shown.version, from, to, zone],
  );
  const [at, setAt] = useState<readonly [day: number, hour: number]>();
  const draw = useCallback((pen: Pen) => heat && drawHeat(pen, heat, at), [heat, at]);
  if (!curve || !heat) return null;
  const days = heat.days.length;
  const pointed = (
    p: { x: number; y: number } | undefined,
    size: { width: number; height: number },
  ) => {
    if (!p) return setAt(undefined);
    const hour = Math.floor(((p.x - left) / (size.width - left - right)) * 24);
    const day = Math.floor(((p.y - top) / (size.height - top - bottom)) * days);
    setAt(hour >= 0 && hour < 24 && day >= 0 && day < days ? [day, hour] : undefined);
  };
  const onKeyDown = (e: KeyboardEvent) => {
    const next = moved(at ?? [0, 0], e.key, days);
    if (!next) return;
    e.preventDefault();
    setAt(next);
  };
  return (
    <>
      <p class="shape-head">
        <SeriesChoice
          label="Series"
          list={list}
          chosen={curve}
          onChoose={(x) => onShow({ ...view, x })}
        />
      </p>
      <Canvas
        label={`Heat map of ${nameWithUnit(curve)}: 24 hours across, ${days} days down, from ${value(heat.low)} to ${value(heat.high)}. Arrow keys move over the hours.`}
        draw={draw}
        onPoint={pointed}
        onKeyDown={onKeyDown}
      />
      <p class="quiet plot-foot">
        <span role="status" aria-label="Hour">
          {at ? words(heat, at, curve) : `${value(heat.low)} `}
          {!at && <span class="heat-scale" aria-hidden="true" />}
          {!at && ` ${value(heat.high)} ${unit(curve.unit)}`}
        </span>
        <ClockChoice view={view} site={site} onShow={onShow} />
      </p>
    </>
  );
}

function words(heat: Heat, [day, hour]: readonly [number, number], curve: Curve): string {
  const date = heat.days[day];
  const found = heat.hours[day]?.[hour];
  const two = String(hour).padStart(2, "0");
  const what = typeof found === "number" ? `${value(found)} ${unit(curve.unit)}` : "no value";
  return date ? `${isoDay(date)} ${two}:00 to ${two}:59: ${what}` : "";
}

function moved(
  [day, hour]: readonly [number, number],
  key: string,
  days: number,
): readonly [number, number] | undefined {
  const clamp = (n: number, most: number) => Math.min(most, Math.max(0, n));
  if (key === "ArrowLeft") return [day, clamp(hour - 1, 23)];
  if (key === "ArrowRight") return [day, clamp(hour + 1, 23)];
  if (key === "ArrowUp") return [clamp(day - 1, days - 1), hour];
  if (key === "ArrowDown") return [clamp(day + 1, days - 1), hour];
  return undefined;
}

/** Colours from low to high that are told apart without colour vision, and in both themes. */
const stops = [
  [68, 1, 84],
  [59, 82, 139],
  [33, 145, 140],
  [94, 201, 98],
  [253, 231, 37],
] as const;

function colourOf(share: number): string {
  const at = Math.min(0.9999, Math.max(0, share)) * (stops.length - 1);
  const low = stops[Math.floor(at)] ?? stops[0];
  const high = stops[Math.floor(at) + 1] ?? low;
  const mix = at - Math.floor(at);
  return `rgb(${low.map((c, i) => Math.round(c + ((high[i] ?? c) - c) * mix)).join(" ")})`;
}

function drawHeat(
  { ctx, width, height, ink }: Pen,
  heat: Heat,
  at?: readonly [number, number],
): void {
  const days = heat.days.length;
  const cell = {
    width: (width - left - right) / 24,
    height: (height - top - bottom) / Math.max(1, days),
  };
  const gap = cell.height > 6 ? 1 : 0;
  heat.hours.forEach((hours, d) => {
    hours.forEach((v, h) => {
      const share = v === null ? 0 : (v - heat.low) / (heat.high - heat.low || 1);
      ctx.fillStyle = v === null ? ink("--gap-soft") : colourOf(share);
      ctx.fillRect(
        left + h * cell.width,
        top + d * cell.height,
        Math.max(0.5, cell.width - gap),
        Math.max(0.5, cell.height - gap),
      );
    });
  });
  ctx.fillStyle = ink("--quiet");
  ctx.textBaseline = "middle";
  ctx.textAlign = "right";
  const every = Math.max(1, Math.ceil(16 / cell.height));
  for (let d = 0; d < days; d += every) {
    const day = heat.days[d];
    if (day) ctx.fillText(isoDay(day), left - 8, top + (d + 0.5) * cell.height);
  }
  ctx.textAlign = "center";
  const step = cell.width < 26 ? 6 : 3;
  for (let h = 0; h < 24; h += step)
    ctx.fillText(`${h}:00`, left + (h + 0.5) * cell.width, top / 2);
  if (!at) return;
  ctx.strokeStyle = ink("--text");
  ctx.lineWidth = 2;
  ctx.strokeRect(
    left + at[1] * cell.width,
    top + at[0] * cell.height,
    cell.width - gap,
    Math.max(2, cell.height - gap),
  );
}
