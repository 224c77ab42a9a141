import { panBy, pinch, type Span, zoomAt } from "./span";

/** What a gesture starts from, and whom it tells. */
interface Moved {
  from: number;
  to: number;
  onMove?(from: number, to: number): void;
}

/** A finger or a pressed mouse button. */
interface Touch {
  id: number;
  /** Where it began and is, as shares of the width. */
  began: number;
  at: number;
}

/**
 * Follows wheel, fingers, and drags of the time axis or with the shift key over a plot, until the
 * returned function is called. One finger moves, two zoom; up and down still scroll the page.
 */
export function followGestures(
  root: HTMLElement,
  over: HTMLElement,
  now: { current: Moved },
): () => void {
  const share = (e: MouseEvent) => {
    const box = over.getBoundingClientRect();
    return (e.clientX - box.left) / (box.width || 1);
  };
  const tell = (span: Span) => now.current.onMove?.(span[0], span[1]);
  const onWheel = (e: WheelEvent) => {
    if (!now.current.onMove) return;
    e.preventDefault();
    const here: Span = [now.current.from, now.current.to];
    const sideways = e.shiftKey ? e.deltaY || e.deltaX : e.deltaX;
    if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
      tell(panBy(here, pixelsOf(e, sideways) / (over.clientWidth || 1)));
    } else tell(zoomAt(here, 1.0015 ** pixelsOf(e, e.deltaY), share(e)));
  };
  const fingers = new Fingers(over, now, share, tell);
  over.addEventListener("wheel", onWheel, { passive: false });
  root.addEventListener("pointerdown", fingers.down);
  return () => {
    over.removeEventListener("wheel", onWheel);
    root.removeEventListener("pointerdown", fingers.down);
    fingers.stop();
  };
}

/** A wheel may count in lines instead of pixels. */
const pixelsOf = (e: WheelEvent, delta: number) =>
  Math.max(-300, Math.min(300, e.deltaMode === 1 ? delta * 33 : delta));

/** What is pressed on the plot: a mouse counts only on the axis below it or with the shift key. */
class Fingers {
  private touches: Touch[] = [];
  private span: Span = [0, 1];

  constructor(
    private readonly over: HTMLElement,
    private readonly now: { current: Moved },
    private readonly share: (e: MouseEvent) => number,
    private readonly tell: (span: Span) => void,
  ) {}

  readonly down = (e: PointerEvent): void => {
    if (!this.now.current.onMove || !this.counts(e) || this.touches.length === 2) return;
    const at = this.share(e);
    this.touches.push({ id: e.pointerId, began: at, at });
    this.restart();
    if (this.touches.length > 1) return;
    addEventListener("pointermove", this.move);
    addEventListener("pointerup", this.up);
    addEventListener("pointercancel", this.up);
  };

  stop(): void {
    this.touches = [];
    removeEventListener("pointermove", this.move);
    removeEventListener("pointerup", this.up);
    removeEventListener("pointercancel", this.up);
  }

  private counts(e: PointerEvent): boolean {
    const onPlot = this.over.contains(e.target as Node);
    if (e.pointerType === "touch") return onPlot;
    const below = e.clientY > this.over.getBoundingClientRect().bottom;
    return e.button === 0 && (below || (onPlot && e.shiftKey));
  }

  private readonly move = (e: PointerEvent): void => {
    const touch = this.touches.find((t) => t.id === e.pointerId);
    if (!touch) return;
    touch.at = this.share(e);
    const [a, b] = this.touches;
    if (a && b) this.tell(pinch(this.span, [a.began, b.began], [a.at, b.at]));
    else if (a) this.tell(panBy(this.span, a.began - a.at));
  };

  private readonly up = (e: PointerEvent): void => {
    this.touches = this.touches.filter((t) => t.id !== e.pointerId);
    if (this.touches.length === 0) this.stop();
    else this.restart();
  };

  /** What is pressed now goes on from here. */
  private restart(): void {
    this.span = [this.now.current.from, this.now.current.to];
    this.touches = this.touches.map((t) => ({ ...t, began: t.at }));
  }
}
