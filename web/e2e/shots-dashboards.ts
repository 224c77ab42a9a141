import type { Page } from "playwright-core";
import { phone, type Shot, wide } from "./shot";
import { attacks, building } from "./sites";
import { boiler, single, wall } from "./stand-dashboards";

const base = {
  site: building,
  documented: false,
  address: "/dashboards/plant?all",
  handlers: single(boiler),
  ready: (page: Page) => page.getByText("°C").first().waitFor(),
} as const;

const arranged = { ...base, address: "/dashboards/plant?all&edit" } as const;
const odd = { ...boiler, title: attacks[0] ?? "" };

/** Dashboards: one that is shown, on a wall, and arranged. */
export const dashboards: readonly Shot[] = [
  { ...base, name: "dashboard", size: wide, scheme: "light" },
  { ...base, name: "dashboard-dark", size: wide, scheme: "dark" },
  { ...base, name: "dashboard-phone", size: phone, scheme: "light" },
  { ...base, name: "dashboard-wall-dark", address: wall, size: wide, scheme: "dark" },
  { ...arranged, name: "dashboard-arrange", size: wide, scheme: "light" },
  { ...arranged, name: "dashboard-arrange-phone-dark", size: phone, scheme: "dark" },
  { ...base, name: "dashboard-hostile", size: phone, scheme: "light", handlers: single(odd) },
];
