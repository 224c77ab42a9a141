import { phone, type Shot, wide } from "./shot";
import { building } from "./sites";
import { ledgerHandlers } from "./stand-ledger";
import { campusNodes, childOf, Joined, parentOf, pendingOf, uplinkOf } from "./stand-nodes";

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
  ready: (page) => page.getByRole("status", { name: "Node above" }).waitFor(),
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
  ready: (page) => page.getByRole("list", { name: "What it may" }).waitFor(),
} satisfies Partial<Shot>;

/** A plant that was cut off for a while, and catches up by 1,000 samples a second. */
function catchingUp(): Pick<Shot, "site" | "scheme" | "handlers"> {
  const began = Date.now();
  const way = () => {
    const come = Math.min(40_000, Date.now() - began);
    return { plant: 912_000, campus: 890_000 + come / 2, here: 872_000 + come };
  };
  return { site: building, scheme: "light", handlers: ledgerHandlers(way) };
}

const ledger = {
  address: "/ledger",
  ready: async (page) => {
    await page.getByText("a second arrive").waitFor();
    await page.getByRole("img", { name: "1 hole" }).waitFor();
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
];
