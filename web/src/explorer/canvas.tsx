import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import type { Ink } from "../plot-axes";
import { useDark } from "../use-dark";

/** What a drawing is made with: pixels of the style, and the colours of the theme. */
export interface Pen {
  ctx: CanvasRenderingContext2D;
  width: number;
  height: number;
  ink: Ink;
}

interface Props {
  /** What the picture shows, in words. */
  label: string;
  /** Changes whenever the drawing does. */
  draw(pen: Pen): void;
  onPoint?(at: { x: number; y: number } | undefined, size: { width: number; height: number }): void;
  onKeyDown?(e: KeyboardEvent): void;
}

/** A picture that fills its place, sharp on every screen, and again in each theme. */
export function Canvas({ label, draw, onPoint, onKeyDown }: Props) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 0, height: 0 });
  const dark = useDark();
  useLayoutEffect(() => {
    const box = canvas.current?.parentElement;
    if (!box) return;
    const measure = () => setSize({ width: box.clientWidth, height: box.clientHeight });
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(box);
    return () => observer.disconnect();
  }, []);
  // Dark stands for the colours
  useEffect(() => {
    const target = canvas.current;
    const ctx = target?.getContext("2d");
    if (!target || !ctx || size.width === 0) return;
    const style = getComputedStyle(target);
    target.width = Math.round(size.width * devicePixelRatio);
    target.height = Math.round(size.height * devicePixelRatio);
    ctx.scale(devicePixelRatio, devicePixelRatio);
    ctx.clearRect(0, 0, size.width, size.height);
    ctx.font = "12px system-ui, sans-serif";
    draw({ ctx, ...size, ink: (name) => style.getPropertyValue(name).trim() });
  }, [draw, size, dark]);
  const pointed = (e: PointerEvent) =>
    onPoint?.({ x: e.offsetX, y: e.offsetY }, { width: size.width, height: size.height });
  const picture = (
    <canvas
      ref={canvas}
      onPointerMove={pointed}
      onPointerDown={pointed}
      onPointerLeave={() => onPoint?.(undefined, size)}
    />
  );
  if (!onKeyDown) {
    return (
      <div class="explore-plot shape" role="img" aria-label={label}>
        {picture}
      </div>
    );
  }
  return (
    <div
      class="explore-plot shape"
      role="application"
      aria-label={label}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: keys move over the picture
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      {picture}
    </div>
  );
}
