import type { Page } from "playwright-core";
import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
import { Destinations } from "./stand-destinations";

const base = {
  site: building,
  address: "/destinations",
  documented: false,
  get handlers() {
    return new Destinations().handlers;
  },
  ready: (page: Page) => page.getByText("10,252 samples").waitFor(),
} as const;

const one = {
  ...base,
  address: "/destinations/warehouse",
  ready: (page: Page) => page.getByText("takes numbers only").first().waitFor(),
} as const;

const judged = {
  ...base,
  address: "/destinations/search",
  ready: (page: Page) => page.getByText("500 is not from -20 to 90").waitFor(),
} as const;

const form = {
  ...base,
  ready: async (page: Page) => {
    await page.getByRole("button", { name: "Add a destination" }).click();
    await page.getByText("More settings").click();
  },
} as const;

/** The destinations of readings. */
export const destinations: readonly Shot[] = [
  { ...base, name: "destinations", size: wide, scheme: "light", documented: true },
  { ...base, name: "destinations-dark", size: wide, scheme: "dark" },
  { ...base, name: "destinations-phone", size: phone, scheme: "light" },
  { ...base, name: "destinations-phone-dark", size: phone, scheme: "dark" },
  { ...form, name: "destination-form", size: wide, scheme: "dark" },
  { ...form, name: "destination-form-phone", size: phone, scheme: "light" },
  { ...judged, name: "destination-judged", size: wide, scheme: "light" },
  { ...judged, name: "destination-judged-phone", size: phone, scheme: "light" },
  { ...one, name: "destination", size: wide, scheme: "light" },
  { ...one, name: "destination-phone-dark", size: phone, scheme: "dark" },
];
