import type { Page } from "playwright-core";
import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
import { type Call, Refusal } from "./stand";
import { plant, Settings } from "./stand-config";
import { inMinutes } from "./stand-control";
import { FarPoints } from "./stand-far";
import { ledgerHandlers } from "./stand-ledger";
import { campusNodes, childOf, Joined, parentOf, pendingOf, uplinkOf } from "./stand-nodes";

const small = { width: 1280, height: 900 };

const draft = { documented: false } as const;
const kept = { documented: true } as const;

/** A campus below a region, with plants below it. */
function campus(): Joined {
  const made = new Joined();
  made.nodes = campusNodes();
  made.above = ["region"];
  made.children.push(
    childOf("plant-1", { grants: { read: ["weather/**"] } }),
    childOf("plant-2"),
    pendingOf("plant-3", { prefix: "campus/plant-3" }),
  );
  const counts = {
    octets: 9_100_000,
    acknowledged: 4_100_000,
    repeated: 120,
    dropped: 0,
    reason: "",
  };
  const origins = [
    {
      origin: "campus~4k2m9x",
      sequence: 4102,
      samples: 5_212_300,
      sent: 4_100_000,
      left: 0,
      ...counts,
    },
    {
      origin: "plant-1~9sd2kq",
      sequence: 881,
      samples: 1_220_100,
      sent: 960_000,
      left: 2300,
      ...counts,
    },
  ];
  made.parent = parentOf({ uplink: uplinkOf({ origins }) });
  return made;
}

const base = () => ({
  ...{ site: building, scheme: "light" as const },
  handlers: campus().handlers,
});

const code = {
  address: "/nodes/join",
  ready: async (page) => {
    await page.getByRole("button", { name: "Invite a node" }).click();
    await page.getByLabel(/^Its points lie below/).fill("campus/b1");
    await page.getByRole("button", { name: "Make the code" }).click();
    await page.getByRole("img", { name: "The code for a camera" }).waitFor();
  },
} satisfies Partial<Shot>;

const form = {
  address: "/nodes/join",
  ready: (page) => page.getByRole("button", { name: "Invite a node" }).click(),
} satisfies Partial<Shot>;

const approve = {
  address: "/nodes/join",
  ready: async (page) => {
    await page.getByRole("button", { name: "Approve plant-3…" }).click();
    await page.getByRole("dialog").waitFor();
  },
} satisfies Partial<Shot>;

const above = {
  address: "/nodes/parent",
  ready: (page) => page.getByRole("status", { name: "Parent" }).waitFor(),
} satisfies Partial<Shot>;

const list = {
  address: "/nodes",
  ready: (page) => page.getByText("1,026,000 samples").waitFor(),
} satisfies Partial<Shot>;

const map = {
  address: "/nodes?show=map",
  ready: (page) => page.getByRole("list", { name: "Map of the nodes" }).waitFor(),
} satisfies Partial<Shot>;

const node = {
  address: "/node/plant-1",
  ready: (page) => page.getByText("8,204,100").waitFor(),
} satisfies Partial<Shot>;

const member = {
  address: "/node/plant-1?part=joined",
  ready: (page) => page.getByRole("list", { name: "Rights" }).waitFor(),
} satisfies Partial<Shot>;

/** The live values of a plant, read again and again. */
function watching(): Pick<Shot, "site" | "scheme" | "handlers"> {
  const far = new FarPoints(14);
  const stream = far.handlers["GET stream"];
  const points = Object.fromEntries(
    Array.from({ length: 14 }, (_, i) => [`p${i}`, 18.25 + 1.5 * i]),
  );
  const handlers = {
    ...campus().handlers,
    ...far.handlers,
    "GET stream": (call: Call) => {
      const answer = stream?.(call);
      far.send(points, { p3: "uncertain", p7: "bad(timeout)" });
      return answer;
    },
  };
  return { ...base(), handlers };
}

const live = {
  address: "/node/plant-1?part=live",
  ready: (page) => page.getByText("18.25").waitFor(),
} satisfies Partial<Shot>;

const said = [
  { level: "info", message: "node runs", extra: { node: "plant-1", version: "0.9.0" } },
  { level: "info", message: "connected to the parent", extra: { parent: "campus" } },
  {
    ...{ level: "warning", message: "device is silent" },
    extra: { device: "ahu1", driver: "modbus", err: "10.0.4.31:502: connection refused" },
  },
  { level: "info", message: "device answers again", extra: { device: "ahu1" } },
  { level: "error", message: "history cannot be written", extra: { err: "disk is full" } },
];

/** The log of a plant, as it lets itself be read, or does not. */
function logging(isAllowed: boolean): Pick<Shot, "site" | "scheme" | "handlers"> {
  const refused = new Refusal(403, "plant-1 says: missing: call node:log", "refused", {
    missing: "call node:log",
  });
  const handlers = {
    ...campus().handlers,
    "GET log/follow": ({ response }: Call) => {
      if (!isAllowed) return refused;
      response.writeHead(200, { "Content-Type": "text/event-stream" });
      said.forEach((line, i) => {
        const data = { number: i + 1, time: inMinutes(i - 9), ...line };
        response.write(`event: line\ndata: ${JSON.stringify(data)}\n\n`);
      });
      return "streamed";
    },
  };
  return { ...base(), handlers };
}

const log = {
  address: "/node/plant-1?part=log",
  ready: (page) => page.getByText(/disk is full|is missing/).waitFor(),
} satisfies Partial<Shot>;

const pushing = () => ({
  ...base(),
  handlers: { ...campus().handlers, ...new Settings(plant, "ann").handlers },
});

const push = {
  address: "/node/plant-1?part=settings",
  ready: async (page: Page) => {
    await page.getByRole("textbox", { name: "Configuration" }).fill(plant.replace("10s", "20s"));
    await page.getByRole("button", { name: "Review changes" }).click();
    await page.getByRole("button", { name: "Push to plant-1" }).waitFor();
  },
} satisfies Partial<Shot>;

/** A plant that was cut off for a while, and catches up by 1,000 samples a second. */
function catchingUp(): Pick<Shot, "site" | "scheme" | "handlers"> {
  let began = 0;
  const way = () => {
    began ||= Date.now();
    const come = Math.min(40_000, Date.now() - began);
    return { plant: 912_000, campus: 890_000 + come / 2, here: 872_000 + come };
  };
  return { site: building, scheme: "light", handlers: ledgerHandlers(way) };
}

const ledger = {
  address: "/ledger",
  ready: async (page) => {
    await page.getByText("a second arrive").waitFor();
    await page.getByRole("img", { name: /^1 hole/ }).waitFor();
  },
} satisfies Partial<Shot>;

/** The screens of other nodes. */
export const nodes: readonly Shot[] = [
  { ...catchingUp(), ...ledger, ...kept, name: "ledger-nodes", size: wide },
  { ...catchingUp(), ...ledger, ...draft, name: "ledger-nodes-phone", size: phone },
  { ...catchingUp(), ...ledger, ...draft, name: "ledger-nodes-dark", size: wide, scheme: "dark" },
  { ...base(), ...code, ...kept, name: "nodes-join", size: wide },
  { ...base(), ...code, ...draft, name: "nodes-join-phone", size: phone },
  { ...base(), ...form, ...draft, name: "nodes-invite", size: wide, scheme: "dark" },
  { ...base(), ...approve, ...draft, name: "nodes-approve", size: wide },
  { ...base(), ...above, ...draft, name: "nodes-above", size: wide },
  { ...base(), ...above, ...draft, name: "nodes-above-phone", size: phone },
  { ...base(), ...list, ...kept, name: "nodes", size: wide },
  { ...base(), ...list, ...draft, name: "nodes-phone", size: phone },
  { ...base(), ...map, ...kept, name: "nodes-map", size: wide },
  { ...base(), ...map, ...draft, name: "nodes-map-phone", size: phone },
  { ...base(), ...node, ...draft, name: "node-page", size: wide },
  { ...base(), ...node, ...draft, name: "node-page-phone", size: phone },
  { ...base(), ...member, ...draft, name: "node-joined", size: wide },
  { ...base(), ...member, ...draft, name: "node-joined-phone", size: phone, scheme: "dark" },
  { ...watching(), ...live, ...kept, name: "node-live", size: wide },
  { ...watching(), ...live, ...draft, name: "node-live-phone", size: phone, scheme: "dark" },
  { ...logging(true), ...log, ...kept, name: "node-log", size: wide },
  { ...logging(true), ...log, ...draft, name: "node-log-phone", size: phone, scheme: "dark" },
  { ...logging(false), ...log, ...draft, name: "node-log-refused", size: phone },
  { ...pushing(), ...push, ...kept, name: "node-push", size: wide },
  { ...pushing(), ...push, ...draft, name: "node-push-phone", size: phone, scheme: "dark" },
  { ...base(), ...list, ...draft, name: "nodes-dark", size: small, scheme: "dark" },
  { ...base(), ...map, ...draft, name: "nodes-map-dark", size: small, scheme: "dark" },
  { ...base(), ...node, ...draft, name: "node-page-dark", size: small, scheme: "dark" },
  { ...base(), ...code, ...draft, name: "nodes-join-dark", size: small, scheme: "dark" },
  { ...base(), ...approve, ...draft, name: "nodes-approve-phone", size: phone, scheme: "dark" },
];
