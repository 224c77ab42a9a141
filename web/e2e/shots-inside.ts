import { expect } from "vitest";
import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
import { bus } from "./stand-bus";
import { lab } from "./stand-lab";

const base = { site: building, scheme: "light" } as const;
const draft = { documented: false } as const;
const kept = { documented: true } as const;

const ledger = {
  ...base,
  address: "/ledger",
  ready: (page) => page.getByText("none is lost").last().waitFor(),
} satisfies Partial<Shot>;

const inspector = {
  ...base,
  address: "/bus",
  handlers: bus(building),
  ready: async (page) => {
    for (const branch of ["live", "live.campus"]) {
      await page.getByRole("button", { name: `Unfold ${branch}`, exact: true }).click();
    }
    await expect
      .poll(() => page.locator(".messages li").count(), { timeout: 15_000 })
      .toBeGreaterThan(40);
  },
} satisfies Partial<Shot>;

const goes = {
  ...base,
  handlers: lab(),
  address: "/lab?experiment=scrape",
  ready: async (page) => {
    await page.getByRole("button", { name: "Run", exact: true }).click();
    await page.getByRole("img", { name: "Latency over time" }).waitFor();
  },
} satisfies Partial<Shot>;

/** The screens that show what goes on inside: ledger, bus, lab. */
export const inside: readonly Shot[] = [
  { ...ledger, ...kept, name: "ledger", size: wide },
  { ...ledger, ...draft, name: "ledger-phone", size: phone },
  { ...inspector, ...kept, name: "bus", size: wide },
  { ...inspector, ...draft, name: "bus-dark", size: wide, scheme: "dark" },
  { ...inspector, ...draft, name: "bus-phone", size: phone },
  {
    ...base,
    ...draft,
    name: "lab",
    size: wide,
    address: "/lab",
    handlers: lab(),
    ready: (page) => page.getByText("Every case").first().waitFor(),
  },
  {
    ...base,
    ...draft,
    name: "lab-experiment",
    size: wide,
    address: "/lab?experiment=scrape",
    handlers: lab(),
    ready: (page) => page.getByRole("region", { name: "Medians of the latest runs" }).waitFor(),
  },
  {
    ...base,
    ...kept,
    name: "lab-result",
    size: wide,
    address: "/lab?run=r2",
    handlers: lab(),
    ready: (page) => page.getByRole("region", { name: "Figures of each case" }).waitFor(),
  },
  { ...goes, ...draft, name: "lab-run", size: wide, scheme: "dark" },
  { ...goes, ...draft, handlers: lab(), name: "lab-run-phone", size: phone },
];
