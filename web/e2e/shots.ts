// All pictures. A screen with pictures of its own adds a module and a line below.

import type { Page } from "playwright-core";
import { expect } from "vitest";
import { curvePixels } from "./browser";
import { phone, type Shot, wide } from "./shot";
import { agents } from "./shots-agents";
import { cluster } from "./shots-cluster";
import { controls } from "./shots-control";
import { dashboards } from "./shots-dashboards";
import { destinations } from "./shots-destinations";
import { explorer } from "./shots-explore";
import { inside } from "./shots-inside";
import { metering } from "./shots-metering";
import { mqtt } from "./shots-mqtt";
import { nodes } from "./shots-nodes";
import { building, hostile, type Site, troubled } from "./sites";
import type { Stand } from "./stand";
import { plant, Settings } from "./stand-config";
import { completeness } from "./stand-history";
import { People } from "./stand-people";
import { fresh } from "./stand-setup";

const boiler = "campus/plant/boiler1";
const query = `?branch=${boiler}&point=${boiler}/supply_temp&point=${boiler}/return_temp&point=${boiler}/power&range=1h`;

const saysHealth = (page: Page) =>
  page.getByRole("status", { name: "Health" }).getByText("sample").waitFor();

async function showsSite(page: Page) {
  if (page.url().includes("point=")) {
    await expect.poll(() => curvePixels(page, 0)).toBeGreaterThan(100);
  }
  await saysHealth(page);
  await page
    .getByRole("region", { name: "Live values" })
    .getByText("now")
    .filter({ visible: true })
    .first()
    .waitFor();
}

/** What a measurement may say; made up, so its picture is for looking only. */
const capacity = {
  "GET capacity": () => ({
    measured: "2026-03-01T08:00:00Z",
    words: [
      "This machine carries 41,000 devices of 18 points each second.",
      "The processor binds first.",
    ],
  }),
};

/** The building stands below the verdict. */
async function showsOverview(page: Page) {
  await saysHealth(page);
  await page.getByRole("region", { name: "The building" }).getByText("°C").first().waitFor();
}

/** The screen of the system measures rates over two answers. */
async function showsSystem(page: Page) {
  await saysHealth(page);
  await page.getByText("a second", { exact: true }).waitFor();
  await expect.poll(() => page.getByText("…").count(), { timeout: 10_000 }).toBe(0);
}

const site = { site: building, scheme: "light", ready: showsSite } as const;
const overview = { site: building, scheme: "light", address: "/", ready: showsOverview } as const;
const system = { ...overview, address: "/system", ready: showsSystem } as const;
const draft = { documented: false } as const;
const kept = { documented: true } as const;

const heat = {
  site: troubled,
  scheme: "light",
  address: "/site/completeness?branch=campus&span=7d",
  handlers: completeness(troubled),
  ready: (page: Page) => page.getByText(/complete: /).waitFor(),
} as const;

const device = {
  site: building,
  scheme: "light",
  address: `/device/${boiler}`,
  ready: async (page: Page) => {
    await expect.poll(() => curvePixels(page, 0)).toBeGreaterThan(100);
    await page.getByText("flue_temp").first().waitFor();
  },
} as const;

const silent = {
  ...device,
  site: troubled,
  address: "/device/campus/plant/meter",
  ready: (page: Page) => page.getByRole("list", { name: "Points that are not good" }).waitFor(),
} as const;

const settings = {
  site: building,
  scheme: "light",
  address: "/settings",
  ready: async (page: Page) => {
    await page
      .getByRole("textbox", { name: "Configuration" })
      .fill(plant.replace("10s", "nonsense"));
    await page.getByText("1 problem").waitFor();
  },
} as const;

const review = {
  ...settings,
  ready: async (page: Page) => {
    const editor = page.getByRole("textbox", { name: "Configuration" });
    await editor.fill(plant.replace("10s", "20s").replace("plant/meter", "plant/meter 2"));
    await page.getByText("is added").waitFor();
    await page.getByRole("button", { name: "Review changes" }).click();
    await page.getByRole("region", { name: "Difference" }).waitFor();
  },
} as const;

const people = {
  site: building,
  scheme: "light",
  address: "/people",
  ready: (page: Page) => page.getByText("ann").first().waitFor(),
} as const;

/** A node without people and devices. */
function firstVisit(): Pick<Shot, "site" | "handlers" | "began"> {
  const site: Site = [];
  const at: { stand?: Stand } = {};
  const handlers = fresh(() => at.stand as Stand, site);
  return {
    site,
    handlers,
    began: (stand) => {
      at.stand = stand;
    },
  };
}

const account = {
  scheme: "light",
  address: "/",
  ready: async (page: Page) => {
    await page.getByRole("textbox", { name: /^Administrator/ }).fill("ann");
    await page.getByLabel("Name of the site").fill("campus");
    for (const field of await page.locator("input[type=password]").all()) {
      await field.fill("a long password");
    }
  },
} as const;

const tried = {
  ...account,
  ready: async (page: Page) => {
    await account.ready(page);
    await page.getByRole("button", { name: "Create the administrator" }).click();
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("It answers within").waitFor();
  },
} as const;

const modbus = {
  ...account,
  ready: async (page: Page) => {
    await tried.ready(page);
    await page.getByRole("radio", { name: /A Modbus device/ }).check();
    await page.getByLabel("Address", { exact: true }).fill("192.168.1.20");
    await page.getByLabel("Name of register 1").fill("supply_temp");
    await page.getByRole("button", { name: "Add a register" }).click();
    await page.getByLabel("Name of register 2").fill("return_temp");
    await page.getByLabel("Address of register 2").fill("2");
    await page.getByRole("button", { name: "Try it" }).click();
    await page.getByText("connection refused").waitFor();
  },
} as const;

const planted = {
  ...account,
  ready: async (page: Page) => {
    await tried.ready(page);
    await page.getByRole("button", { name: "Add the device" }).click();
    await expect.poll(() => curvePixels(page, 0)).toBeGreaterThan(100);
  },
} as const;

const login = {
  ...account,
  ready: async (page: Page) => {
    await tried.ready(page);
    await page.getByRole("button", { name: "Log out" }).first().click();
    await page.getByLabel("Password").waitFor();
  },
} as const;

/** A configuration that two people wrote. */
function history() {
  const kept = new Settings(plant.replace("1s", "5s"), "bob");
  kept.write(plant, "ann");
  return kept.handlers;
}

const kinds = { ann: "administrator", bob: "engineer", carla: "operator", dora: "viewer" };

const mine: readonly Shot[] = [
  { ...overview, ...kept, name: "overview", size: wide },
  { ...system, ...draft, name: "system", size: wide, handlers: capacity },
  { ...system, ...draft, name: "system-phone-dark", size: phone, scheme: "dark" },
  { ...overview, ...kept, name: "overview-phone", size: phone, site: troubled },
  { ...overview, ...draft, name: "overview-dark", size: wide, scheme: "dark", site: troubled },
  { ...overview, ...draft, name: "overview-hostile", size: phone, site: hostile },
  { ...heat, ...kept, name: "completeness", size: wide },
  { ...heat, ...draft, name: "completeness-dark", size: wide, scheme: "dark" },
  { ...heat, ...draft, name: "completeness-phone", size: phone },
  { ...device, ...kept, name: "device", size: wide },
  { ...device, ...draft, name: "device-phone", size: phone },
  { ...silent, ...draft, name: "device-silent", size: wide, scheme: "dark" },
  { ...settings, ...kept, name: "settings", size: wide, handlers: history() },
  { ...settings, ...draft, name: "settings-phone", size: phone, handlers: history() },
  { ...review, ...kept, name: "settings-review", size: wide, handlers: history() },
  {
    ...review,
    ...draft,
    name: "settings-review-dark",
    size: wide,
    scheme: "dark",
    handlers: history(),
  },
  { ...people, ...kept, name: "people", size: wide, handlers: new People(kinds).handlers },
  { ...people, ...draft, name: "people-phone", size: phone, handlers: new People(kinds).handlers },
  { ...account, ...firstVisit(), ...draft, name: "welcome-account", size: wide },
  { ...tried, ...firstVisit(), ...kept, name: "welcome", size: wide },
  { ...modbus, ...firstVisit(), ...draft, name: "welcome-modbus", size: phone },
  { ...planted, ...firstVisit(), ...draft, name: "welcome-plot", size: wide, scheme: "dark" },
  { ...login, ...firstVisit(), ...draft, name: "login", size: wide },
  { ...site, ...kept, name: "site", size: wide, address: `/site${query}` },
  { ...site, ...kept, name: "phone", size: phone, address: `/site${query}` },
  {
    ...site,
    ...draft,
    name: "site-dark",
    size: wide,
    scheme: "dark",
    site: troubled,
    address: `/site${query.replace(boiler, "campus")}`,
  },
  {
    ...site,
    ...draft,
    name: "laptop",
    size: { width: 1024, height: 768 },
    site: troubled,
    address: `/site${query}`,
  },
  {
    ...site,
    ...draft,
    name: "hostile",
    size: wide,
    site: hostile,
    address: "/site?branch=hostile 1",
  },
];

/** Every picture that can be made. */
export const shots: readonly Shot[] = [
  ...mine,
  ...explorer,
  ...inside,
  ...agents,
  ...controls,
  ...dashboards,
  ...nodes,
  ...metering,
  ...cluster,
  ...mqtt,
  ...destinations,
];
