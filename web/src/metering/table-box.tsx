import type { ComponentChildren } from "preact";

/** A box that scrolls sideways where its table is wider than the screen, also by keyboard. */
export const TableBox = ({ label, children }: { label: string; children: ComponentChildren }) => (
  // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
  <section class="table-box" tabIndex={0} aria-label={label}>
    {children}
  </section>
);
