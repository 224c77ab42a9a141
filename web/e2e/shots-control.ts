import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
import { AuditLog } from "./stand-audit";
import { busy } from "./stand-control";

const draft = { documented: false } as const;
const kept = { documented: true } as const;
const zone1 = "campus/hq/floor 1/zone 1";

/** A building in use. */
function inUse(): Pick<Shot, "site" | "scheme" | "handlers" | "began"> {
  const control = busy(building);
  const log = new AuditLog([
    {
      ...{ actor: "agent:comfort", action: "control.command", subject: `${zone1}/setpoint` },
      ...{ outcome: "accepted", detail: { level: 12, value: 20.5, reason: "occupied" } },
    },
    {
      ...{ actor: "person:ann", action: "control.command", subject: `${zone1}/setpoint` },
      ...{ outcome: "accepted", detail: { level: 8, value: 21.5, reason: "a guest is cold" } },
    },
    {
      ...{ actor: "node", action: "control.write-confirmed", subject: `${zone1}/setpoint` },
      detail: { reported: 21.5 },
    },
  ]);
  const handlers = { ...control.handlers, ...log.handlers };
  return { site: building, scheme: "light", handlers, began: control.began };
}

const overview = {
  address: "/control",
  ready: (page) => page.getByRole("list", { name: "Overrides" }).getByRole("listitem").waitFor(),
} satisfies Partial<Shot>;

const schedule = {
  address: "/control/schedule?task=fan%20test",
  ready: (page) => page.getByRole("region", { name: "Chosen reservation" }).waitFor(),
} satisfies Partial<Shot>;

const refused = {
  address: "/control/schedule",
  ready: async (page) => {
    const form = page.getByRole("form", { name: "Reserve" });
    await form.getByLabel("Name").fill("balance");
    await form.getByLabel(/^Devices/).fill("campus/hq");
    await form.getByRole("button", { name: "Reserve" }).click();
    await form.getByText("Nothing is reserved").waitFor();
  },
} satisfies Partial<Shot>;

const point = {
  address: `/point/${zone1}/setpoint`,
  ready: async (page) => {
    await page.getByLabel(/^Value/).fill("23");
    await page.getByText("It is taken").or(page.getByText("It would be refused")).first().waitFor();
    await page.getByText("Value confirmed").waitFor();
  },
} satisfies Partial<Shot>;

const asks = {
  address: "/point/campus/hq/floor 2/zone 6/setpoint",
  ready: async (page) => {
    await page.getByLabel(/^Value/).fill("23");
    await page.getByRole("button", { name: "Set…" }).click();
    await page.getByRole("dialog").waitFor();
  },
} satisfies Partial<Shot>;

const device = {
  address: `/device/${zone1}`,
  ready: (page) =>
    page.getByRole("list", { name: "Points that can be set" }).getByText("ann").waitFor(),
} satisfies Partial<Shot>;

/** The screens of control. */
export const controls: readonly Shot[] = [
  { ...inUse(), ...overview, ...kept, name: "control", size: wide },
  { ...inUse(), ...overview, ...draft, name: "control-phone", size: phone },
  { ...inUse(), ...overview, ...draft, name: "control-dark", size: wide, scheme: "dark" },
  { ...inUse(), ...schedule, ...kept, name: "control-schedule", size: wide },
  { ...inUse(), ...schedule, ...draft, name: "control-schedule-phone", size: phone },
  { ...inUse(), ...refused, ...draft, name: "control-refused", size: wide },
  { ...inUse(), ...point, ...kept, name: "point", size: wide },
  { ...inUse(), ...point, ...draft, name: "point-phone", size: phone },
  { ...inUse(), ...asks, ...draft, name: "point-asks", size: wide, scheme: "dark" },
  { ...inUse(), ...device, ...draft, name: "device-controls", size: wide },
];
