// What a fresh stand-in answers during the first steps.

import type { Trial } from "../src/welcome/setup";
import { building, type Site, type Source, type Unit } from "./sites";
import { type Handlers, Refusal, type Stand } from "./stand";

/** Makes a stand-in fresh: nobody has a password, and devices can be tried and added. */
export function fresh(stand: () => Stand, site: Site): Handlers {
  return {
    "GET setup": () => ({ needed: stand().passwords.size === 0, node: "plant-1" }),
    "POST setup": ({ body }) => {
      const { administrator, password } = body as { administrator: string; password: string };
      if (stand().passwords.size > 0) return new Refusal(409, "There is one already", "conflict");
      if (!/^[a-z0-9._@-]+$/i.test(administrator)) {
        return new Refusal(400, `"${administrator}" is no name: use letters, digits, and . _ @ -`);
      }
      stand().passwords.set(administrator, password);
      stand().user = administrator;
      return undefined;
    },
    "GET drivers": () => ({ drivers: [] }),
    "POST drivers/sim/*": (): Trial => {
      const { points } = simulated("");
      return { ...answered, total: points.length, points: points.map(triedPoint) };
    },
    "POST drivers/modbus/*": ({ body }): Trial => {
      const { address } = (body as { config: { address: string } }).config;
      return { ...answered, kind: "unreachable", detail: `dial ${address}: connection refused` };
    },
    "POST devices": ({ body }) => {
      const { path, driver } = body as { path: string; driver: string };
      if (site.some((u) => u.path === path)) {
        return new Refusal(409, `${path} is the path of a device already`, "conflict");
      }
      site.push({ ...simulated(path), driver });
      return { version: "1", changes: {} };
    },
  };
}

const answered: Trial = { kind: "", detail: "", took_ms: 12, total: 0, points: [] };

const triedPoint = ({ name, unit, at, quality = "good" }: Source) => ({
  name,
  unit,
  value: at(Date.now()),
  quality,
});

function simulated(path: string): Unit {
  const model = building.find((u) => u.path.endsWith("ahu1"));
  if (!model) throw new Error("the building has an air handling unit");
  return { ...model, path };
}
