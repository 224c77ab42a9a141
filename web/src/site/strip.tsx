import { useLayoutEffect, useRef } from "preact/hooks";
import type { Late } from "../node/outage";
import { useDark } from "../use-dark";
import { shadeOf } from "./coverage";

interface Props {
  coverage: readonly (number | null)[];
  /** What came late or is to come, by cell; nothing of it without. */
  late?: readonly Late[];
  /** What it shows, in words. */
  label: string;
  /** The cell under the pointer, undefined when it left. */
  onPoint(cell: number | undefined): void;
  onChoose(cell: number): void;
}

const height = 18;

/** One row of the heat map. The list of holes says the same to those who do not see or point. */
export function Strip({ coverage, late, label, onPoint, onChoose }: Props) {
  const ref = useRef<HTMLCanvasElement>(null);
  const dark = useDark();

  // Colours change with the theme
  useLayoutEffect(() => {
    const canvas = ref.current;
    if (!canvas) return;
    const draw = () => paint(canvas, coverage, late);
    const observer = new ResizeObserver(draw);
    observer.observe(canvas);
    draw();
    return () => observer.disconnect();
  }, [coverage, late, dark]);

  const cellAt = (event: MouseEvent) => {
    const box = ref.current?.getBoundingClientRect();
    if (!box || box.width === 0) return undefined;
    const cell = Math.floor(((event.clientX - box.left) / box.width) * coverage.length);
    return cell >= 0 && cell < coverage.length ? cell : undefined;
  };
  return (
    <canvas
      ref={ref}
      class="strip"
      role="img"
      aria-label={label}
      onPointerMove={(e) => onPoint(cellAt(e))}
      onPointerLeave={() => onPoint(undefined)}
      onClick={(e) => {
        const cell = cellAt(e);
        if (cell !== undefined) onChoose(cell);
      }}
    />
  );
}

function paint(
  canvas: HTMLCanvasElement,
  coverage: readonly (number | null)[],
  late: readonly Late[] = [],
): void {
  const context = canvas.getContext("2d");
  if (!context || canvas.clientWidth === 0) return;
  const ratio = devicePixelRatio;
  canvas.width = Math.round(canvas.clientWidth * ratio);
  canvas.height = Math.round(height * ratio);
  const style = getComputedStyle(canvas);
  const width = canvas.width / coverage.length;
  const gap = width > 4 * ratio ? ratio : 0;
  coverage.forEach((c, i) => {
    context.fillStyle = style.getPropertyValue(`--heat-${late[i] ?? shadeOf(c)}`).trim();
    const left = Math.round(i * width);
    const right = Math.round((i + 1) * width);
    context.fillRect(left, 0, right - left - gap, canvas.height);
    mark(context, style, { kind: late[i], left, right, ratio });
  });
}

interface Cell {
  kind: Late;
  left: number;
  right: number;
  /** Pixels of the canvas in one of the page. */
  ratio: number;
}

/** Marks what came late by a line, and what still waits by dots: colour alone does not reach everybody. */
function mark(
  context: CanvasRenderingContext2D,
  style: CSSStyleDeclaration,
  { kind, left, right, ratio }: Cell,
): void {
  if (!kind) return;
  const size = 2 * ratio;
  const top = Math.round((context.canvas.height - size) / 2);
  const at = kind === "late" ? left : Math.round((left + right - size) / 2);
  context.fillStyle = style.getPropertyValue("--text").trim();
  context.fillRect(at, top, kind === "late" ? right - left : size, size);
}
