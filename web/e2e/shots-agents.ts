import { expect } from "vitest";
import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
import { Agents, fleet } from "./stand-agents";
import { Alarms, some } from "./stand-alerts";
import { AuditLog, morning } from "./stand-audit";
import { limits, shelf } from "./stand-documents";

const base = { site: building, scheme: "light" } as const;
const draft = { documented: false } as const;
const kept = { documented: true } as const;

const audit = {
  ...base,
  address: "/audit",
  ready: async (page) => {
    await page.getByRole("button", { name: "Verify" }).click();
    await page.getByText("The log is whole").waitFor();
    await page.getByRole("button", { name: "Token issued" }).waitFor();
  },
} satisfies Partial<Shot>;

const alerts = {
  ...base,
  address: "/alerts",
  ready: (page) => page.getByText("Supply temperature").waitFor(),
} satisfies Partial<Shot>;

const documents = {
  ...base,
  address: "/documents",
  ready: (page) => page.getByRole("link", { name: "holidays.json" }).waitFor(),
} satisfies Partial<Shot>;

const document = {
  ...base,
  address: `/documents?${new URLSearchParams({ owner: "agent/boiler-watch", name: "config" })}`,
  ready: async (page) => {
    await page
      .getByRole("textbox", { name: "Text" })
      .fill(limits.replace("80", "75").replace("60", "30"));
    const review = page.getByRole("button", { name: "Review changes" });
    await expect.poll(() => review.isDisabled()).toBe(false);
    await review.click();
    await page.getByRole("region", { name: "Difference" }).waitFor();
  },
} satisfies Partial<Shot>;

const agentList = {
  ...base,
  address: "/agents",
  ready: (page) =>
    page
      .getByRole("cell", { name: /^1[123](\.\d)?$/ })
      .first()
      .waitFor(),
} satisfies Partial<Shot>;

const agent = {
  ...base,
  address: "/agents/boiler-watch",
  ready: (page) => page.getByText("checked 3 boilers").waitFor(),
} satisfies Partial<Shot>;

const rights = {
  ...base,
  address: "/agents/boiler-watch?show=rights",
  ready: (page) => page.getByText("Allow all that it wants").waitFor(),
} satisfies Partial<Shot>;

const methods = {
  ...base,
  address: "/agents/boiler-watch?show=methods",
  ready: (page) => page.getByText("limit(device").click(),
} satisfies Partial<Shot>;

const crashes = {
  ...base,
  address: "/agents/economizer?show=ends",
  ready: async (page) => {
    await page.getByRole("button", { name: "20260301T080102.json" }).click();
    await page.getByText("KeyError").waitFor();
  },
} satisfies Partial<Shot>;

const wants = {
  ...base,
  address: "/agents",
  ready: async (page) => {
    await page.getByRole("button", { name: "Install an agent" }).click();
    const name = "heat_pump-1.0-py3-none-any.whl";
    const file = { name, mimeType: "application/zip", buffer: Buffer.from("PK") };
    const form = page.getByRole("form", { name: "Package" });
    await form.getByLabel(/^Package/).setInputFiles(file);
    await page.getByRole("button", { name: "Install", exact: true }).click();
    await page.getByText("Allow it, and start").waitFor();
  },
} satisfies Partial<Shot>;

const wanting = () => {
  const known = fleet();
  known.wants = { subscribe: ["campus/**"], record: ["analysis/**"] };
  return known.handlers;
};

/** The screens of agents, and of what people and agents did. */
export const agents: readonly Shot[] = [
  { ...audit, ...kept, name: "audit", size: wide, handlers: new AuditLog(morning).handlers },
  {
    ...audit,
    ...draft,
    name: "audit-phone",
    size: phone,
    scheme: "dark",
    handlers: new AuditLog(morning).handlers,
  },
  { ...alerts, ...kept, name: "alerts", size: wide, handlers: new Alarms(some()).handlers },
  {
    ...alerts,
    ...draft,
    name: "alerts-phone",
    size: phone,
    handlers: new Alarms(some()).handlers,
  },
  {
    ...alerts,
    ...draft,
    name: "alerts-laptop",
    size: { width: 1100, height: 800 },
    scheme: "dark",
    handlers: new Alarms(some()).handlers,
  },
  { ...documents, ...draft, name: "documents", size: wide, handlers: shelf().handlers },
  { ...documents, ...draft, name: "documents-phone", size: phone, handlers: shelf().handlers },
  { ...document, ...kept, name: "document", size: wide, handlers: shelf().handlers },
  {
    ...document,
    ...draft,
    name: "document-phone",
    size: phone,
    scheme: "dark",
    handlers: shelf().handlers,
  },
  { ...agentList, ...kept, name: "agents", size: wide, handlers: fleet().handlers },
  { ...agentList, ...draft, name: "agents-phone", size: phone, handlers: fleet().handlers },
  { ...agent, ...kept, name: "agent", size: wide, handlers: fleet().handlers },
  {
    ...agent,
    ...draft,
    name: "agent-phone",
    size: phone,
    scheme: "dark",
    handlers: fleet().handlers,
  },
  { ...rights, ...draft, name: "agent-rights", size: wide, handlers: fleet().handlers },
  { ...rights, ...draft, name: "agent-rights-phone", size: phone, handlers: fleet().handlers },
  {
    ...methods,
    ...draft,
    name: "agent-methods",
    size: wide,
    scheme: "dark",
    handlers: fleet().handlers,
  },
  { ...crashes, ...draft, name: "agent-ends", size: wide, handlers: fleet().handlers },
  { ...wants, ...draft, name: "agent-install", size: wide, handlers: wanting() },
  { ...wants, ...draft, name: "agent-install-phone", size: phone, handlers: wanting() },
  {
    ...base,
    ...draft,
    name: "agents-empty",
    size: wide,
    address: "/agents",
    handlers: new Agents().handlers,
    ready: (page) => page.getByText("voltbus agent new").waitFor(),
  },
];
