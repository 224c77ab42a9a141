import type { BrowserContextOptions, Page } from "playwright-core";
import type { Site } from "./sites";
import type { Handlers, Stand } from "./stand";

/** A picture of a screen. */
export interface Shot {
  /** The name of its file. */
  name: string;
  site: Site;
  /** Path and query of the screen. */
  address: string;
  size: { width: number; height: number };
  scheme: "light" | "dark";
  /** Whether it belongs into the documentation. */
  documented: boolean;
  /** What the stand-in answers beyond the site's own data. */
  handlers?: Handlers;
  /** Is given the stand-in before it answers. */
  began?(stand: Stand): void;
  /** Waits until the screen shows what it should. */
  ready(page: Page): Promise<unknown>;
}

/** The sizes of a laptop and of a phone. */
export const wide = { width: 1440, height: 900 };
export const phone = { width: 390, height: 844 };

/** The other options of a shot's browser. */
export const contextOf = ({ size, scheme }: Shot): BrowserContextOptions => ({
  viewport: size,
  colorScheme: scheme,
  reducedMotion: "reduce",
});
