import { expect } from "vitest";
import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
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
    await page.getByRole("button", { name: "token.issue" }).waitFor();
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
];
