import type { Page } from "playwright-core";
import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
import { Replicas } from "./stand-cluster";

const base = {
  site: building,
  address: "/cluster",
  documented: false,
  get handlers() {
    return new Replicas().handlers;
  },
  ready: (page: Page) => page.getByText("everything is acknowledged by three").waitFor(),
} as const;

/** The replicas. */
export const cluster: readonly Shot[] = [
  { ...base, name: "cluster", size: wide, scheme: "light" },
  { ...base, name: "cluster-phone-dark", size: phone, scheme: "dark" },
];
