import type { Page } from "playwright-core";
import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
import { Meters } from "./stand-metering";

const base = {
  site: building,
  documented: false,
  get handlers() {
    return new Meters().handlers;
  },
} as const;

const overview = {
  ...base,
  address: "/metering?day=2026-03-01",
  ready: (page: Page) => page.getByRole("region", { name: "Read rate" }).waitFor(),
};

const query = "channel=1&day=2026-03-01&bill=&from=2026-03-01&to=2026-04-01&tariff=households";
const meter = {
  ...base,
  address: `/metering/1EMH0001?${query}&window=15&knownAt=2026-04-03T08:00`,
  async ready(page: Page) {
    await page.getByText(/figures differ/).waitFor();
    await page.getByRole("img", { name: /96 readings/ }).press("ArrowRight");
    await page.getByRole("region", { name: "Versions" }).getByText("billed").waitFor();
  },
};

const high = { width: wide.width, height: 2000 };

/** Meters. */
export const metering: readonly Shot[] = [
  { ...overview, name: "metering", size: wide, scheme: "light" },
  { ...overview, name: "metering-dark", size: wide, scheme: "dark" },
  { ...overview, name: "metering-phone", size: phone, scheme: "light" },
  { ...meter, name: "metering-meter", size: high, scheme: "light" },
  { ...meter, name: "metering-meter-dark", size: high, scheme: "dark" },
  { ...meter, name: "metering-meter-phone", size: phone, scheme: "light" },
  { ...meter, name: "metering-meter-phone-dark", size: phone, scheme: "dark" },
];
