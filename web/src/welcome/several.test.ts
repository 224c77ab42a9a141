import { describe, expect, test } from "vitest";
import { Api, Problem } from "../api";
import type { Surveyed } from "../generated/api";
import type { Neighbour } from "./setup";
import { addSeveral, batch, pathsFor, stateOf, survey } from "./several";

const found = (instance: number, name = "", more: Partial<Neighbour> = {}): Neighbour => ({
  name,
  detail: `device ${instance}`,
  note: "",
  config: { device: instance },
  facts: { instance: String(instance), address: `10.0.0.${instance % 250}:47808` },
  device: "",
  ...more,
});

const points = (n: number, more: Partial<Surveyed> = {}): Surveyed => ({
  kind: "",
  detail: "",
  points: n,
  guesses: 1,
  registry: "name,object\na,analog-input:1\n",
  added: [],
  gone: [],
  ...more,
});

const silent = points(0, { kind: "timeout", detail: "it did not answer", guesses: 0 });

/** A node that answers requests by a function, and remembers them. */
class Node extends Api {
  readonly asked: { resource: string; body: Record<string, unknown> }[] = [];
  constructor(private readonly reply: (resource: string, body: never) => unknown) {
    super();
  }
  override async send<T>(_: string, resource: string, body?: unknown): Promise<T> {
    this.asked.push({ resource, body: body as Record<string, unknown> });
    return this.reply(resource, body as never) as T;
  }
  override async devices() {
    return [{ path: "site/AHU" }] as Awaited<ReturnType<Api["devices"]>>;
  }
}

describe("paths of devices that were found", () => {
  test("are their names, with the instance behind one that is taken or missing", () => {
    const list = [found(1, "AHU"), found(2, "VAV"), found(3, "VAV"), found(4), found(5, "Fan")];
    const paths = pathsFor("site", list, ["site/AHU"]);
    expect(paths).toEqual(["site/AHU_1", "site/VAV", "site/VAV_3", "site/device_4", "site/Fan"]);
  });
  test("have the address behind them if two have name and instance", () => {
    const facts = (address: string) => ({ facts: { address } });
    const list = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((a) => found(7, "VAV", facts(a)));
    const paths = pathsFor("s", list, []);
    expect(paths).toEqual(["s/VAV", "s/VAV_7", "s/VAV_7_10.0.0.3"]);
  });
});

describe("a device beside the configuration", () => {
  const known = found(1, "AHU", { device: "site/AHU" });
  test.each([
    [found(1), undefined, "new"],
    [known, undefined, "added as site/AHU"],
    [known, points(3), "added as site/AHU; unchanged"],
    [known, silent, "added as site/AHU; it could not be asked: it did not answer"],
    [
      known,
      points(9, { added: ["a", "b", "c", "d", "e", "f"], gone: ["g"] }),
      "added as site/AHU; changed: it has and the configuration lacks a, b, c, d, e and 1 more; the configuration has and it lacks g",
    ],
  ])("is told in words %#", (d, has, words) => expect(stateOf(d, has)).toBe(words));
});

describe("a survey of hundreds of devices", () => {
  const many = Array.from({ length: 300 }, (_, i) => found(i + 1));
  const node = () =>
    new Node((_, body: { devices: unknown[] }) => ({ devices: body.devices.map(() => points(2)) }));

  test("asks some at a time and tells how far it is", async () => {
    const told: number[] = [];
    const api = node();
    const has = await survey(api, { local: "x" }, many, (n) => told.push(n) > 0);
    expect(has.filter((h) => h?.points === 2).length).toBe(300);
    expect(told).toEqual(Array.from({ length: Math.ceil(300 / batch) }, (_, i) => i * batch));
    expect(api.asked[1]?.body.devices).toContainEqual({
      config: { device: 17, address: "10.0.0.17:47808" },
      device: "",
    });
    expect(api.asked.every((a) => (a.body.devices as unknown[]).length <= batch)).toBe(true);
  });

  test("stops when it is told to", async () => {
    const has = await survey(node(), {}, many, (n) => n < 2 * batch);
    expect(has.filter((h) => h !== undefined).length).toBe(2 * batch);
    expect(has.length).toBe(300);
  });

  test("goes on behind devices that the node refuses to ask, and ends with a login", async () => {
    const refusing = (status: number) =>
      new Node((_, body: { devices: { config: { device: number } }[] }) => {
        if (body.devices[0]?.config.device !== 1)
          return { devices: body.devices.map(() => points(2)) };
        throw new Problem(status, "busy", "others are trying devices", "unavailable");
      });
    const has = await survey(refusing(503), {}, many, () => true);
    expect(has.filter((h) => h?.kind === "unavailable").length).toBe(batch);
    expect(has.filter((h) => h?.kind === "").length).toBe(300 - batch);
    await expect(survey(refusing(401), {}, many, () => true)).rejects.toThrow();
  });
});

describe("adding several devices", () => {
  const to = { site: "site", interval: "1m", config: { local: "10.0.0.5/24" } };

  test("is one change with those that answered, and tells of the others", async () => {
    const api = new Node(() => ({}));
    const list = [found(1, "AHU"), found(2, "VAV"), found(3, "Fan")];
    const done = await addSeveral(api, to, list, [points(3), silent, undefined]);
    expect(done).toMatchObject({ paths: ["site/AHU_1"], points: 3, guesses: 1 });
    expect(done.skipped.map((s) => s.why)).toEqual(["it did not answer", "it was not asked"]);
    expect(api.asked).toEqual([
      {
        resource: "drivers/bacnet/devices",
        body: {
          interval: "1m",
          config: to.config,
          devices: [{ path: "site/AHU_1", config: { device: 1, registry: points(3).registry } }],
        },
      },
    ]);
  });

  test("changes nothing if none answered", async () => {
    const api = new Node(() => ({}));
    const done = await addSeveral(api, to, [found(1)], [silent]);
    expect(done.paths).toEqual([]);
    expect(api.asked).toEqual([]);
  });
});
