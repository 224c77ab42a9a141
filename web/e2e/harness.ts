import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, afterEach, beforeAll } from "vitest";
import { launch, openPage, type Watched } from "./browser";
import type { Site } from "./sites";
import { type Handlers, Stand, token } from "./stand";

/** What a test opens: a page that is logged in, and the stand-in behind it. */
export interface Opened extends Watched {
  node: Stand;
}

/** What differs from a laptop and an administrator. */
export interface Opening {
  site: Site;
  address: string;
  handlers?: Handlers;
  role?: string;
  browser?: BrowserContextOptions;
  /** Is given the stand-in before it answers. */
  began?(stand: Stand): void;
}

/** The sizes at which every screen must be usable. */
export const phone: BrowserContextOptions = {
  viewport: { width: 390, height: 844 },
  hasTouch: true,
};

/** A browser for the tests of a file; gives the way to open a page, and closes all after each test. */
export function useBrowser(): (opening: Opening) => Promise<Opened> {
  let browser: Browser;
  let node: Stand | undefined;
  beforeAll(async () => {
    browser = await launch();
  });
  afterEach(async () => {
    for (const context of browser.contexts()) await context.close();
    await node?.stop();
    node = undefined;
  });
  afterAll(() => browser.close());

  return async ({ site, address, handlers = {}, role, browser: options, began }) => {
    const stand = new Stand(site);
    node = stand;
    Object.assign(stand.handlers, handlers);
    began?.(stand);
    if (role !== undefined) stand.role = role;
    await stand.start();
    const watched = await openPage(browser, options);
    await watched.page.goto(`${stand.url}${address}#token=${token}`);
    await watched.page.getByRole("main").waitFor();
    return { ...watched, node: stand };
  };
}
