// What the stand-in answers about meters.

import type {
  MeterBill,
  MeterConcentrators,
  MeterEntry,
  MeterEvents,
  MeterExceptions,
  MeterMissing,
  MeterPeriod,
  MeterProgress,
  MeterReadings,
  MeterVersion,
} from "../src/generated/api";
import { type Handlers, Refusal } from "./stand";

const quarter = 15 * 60_000;
const start = new Date("2026-03-01T00:00:00").getTime();
const end = (n: number) => new Date(start + n * quarter).toISOString();

/** A metering data system with two meters, of which one lacks intervals. */
export class Meters {
  /** Of the meter that lacks intervals. */
  name = "1EMH0002";
  /** Whether edits are refused. */
  refuses = false;
  readonly settled: [number, string][] = [];
  readonly edits: { end: string; value: number; reason: string }[] = [];

  readonly handlers: Handlers = {
    "GET metering/concentrators": (): MeterConcentrators => ({ system: true, concentrators: [] }),
    "GET metering/missing": ({ query }): MeterMissing => ({
      ...{ day: query.get("day") ?? "", expected: 192, received: 189, channels: 1, more: false },
      list: [{ meter: this.name, channel: 1, ends: [end(3), end(4), end(5)] }],
    }),
    "GET metering/events": (): MeterEvents => ({
      events: [
        {
          ...{ number: 2, meter: this.name, at: end(30), kind: "last-gasp", code: "3.26.0.85" },
          ...{ severity: "critical", recorded: end(30), who: "concentrator-1" },
        },
        {
          ...{ number: 1, meter: "1EMH0001", at: end(2), kind: "clock-set" },
          ...{ severity: "information", detail: "by 3 s", recorded: end(3) },
        },
      ],
    }),
    "GET metering/progress": ({ query }): MeterProgress => this.progress(query.get("day") ?? ""),
    "GET metering/bill": ({ query }) =>
      query.get("tariff") === "nobody"
        ? new Refusal(404, "there is no such tariff")
        : this.bill(query),
    "GET documents": () => ({
      documents: [
        { owner: "shared", name: "metering/tariffs/households", type: "json", version: 3 },
        { owner: "shared", name: "metering/rules", type: "yaml", version: 1 },
      ],
    }),
    "GET metering/exceptions": (): MeterExceptions => ({
      exceptions: this.settled.length > 0 ? [] : [this.exception],
    }),
    "POST metering/exceptions/*": ({ resource, body }) => {
      const { why } = body as { why: string };
      this.settled.push([Number(resource.split("/")[2]), why]);
      return undefined;
    },
    "POST metering/validate": () => ({
      ...{ channels: 2, validated: 189, doubted: 1, estimated: 2, exceptions: 1 },
    }),
    "GET metering/meters/*": ({ resource, query }) =>
      resource.endsWith("/readings") ? this.readings(query) : this.entry(resource),
    "POST metering/meters/*": ({ body }) => {
      if (this.refuses) return new Refusal(400, "no reading is expected at this end");
      this.edits.push(body as Meters["edits"][number]);
      return undefined;
    },
  };

  /** What a concentrator answers instead. */
  readonly concentrator: Handlers = {
    "GET metering/concentrators": (): MeterConcentrators => ({
      system: false,
      concentrators: [
        {
          ...{ to: "systems", bulk: 120, age: 5, taken: 12_345, sent: 12_000, refused: 1, lost: 0 },
          events: { sent: 3, refused: 0, lost: 0, waiting: 0 },
          ...{ waiting: 344, rate: 60.2, requests: 101, oldest: new Date().toISOString() },
          systems: [
            {
              url: "https://mds-a.example/",
              state: "ready",
              requests: 101,
              failed: 0,
              sent: 12_000,
            },
            {
              ...{
                url: "https://mds-b.example/",
                state: "failing",
                requests: 0,
                failed: 7,
                sent: 0,
              },
              reason: "it does not answer: connection refused",
              since: new Date(Date.now() - 90_000).toISOString(),
            },
          ],
          refusals: [
            {
              ...{ meter: "1EMH0009", channel: 1, end: end(1), value: 0.5, time: end(2) },
              reason: "no meter is registered with this id and channel: register it first",
              system: "https://mds-a.example/",
            },
          ],
        },
      ],
    }),
  };

  /** An hour of eight intervals; at 9 two are estimated, at 0 three are missing. */
  private progress(day: string): MeterProgress {
    const hour = (h: number) => {
      const [missing, estimated] = [h === 0 ? 3 : 0, h === 9 ? 2 : 0];
      const received = 8 - missing - estimated;
      const edited = this.edits.length > 0 && h === 10 ? 1 : 0;
      const validated = received - edited - (h === 14 ? 1 : 0);
      const from = new Date(start + h * 4 * quarter).toISOString();
      return {
        from,
        expected: 8,
        received,
        validated,
        doubted: h === 14 ? 1 : 0,
        estimated,
        edited,
      };
    };
    const came = [120, 180, 183, 185, 185, 186, 187, 187, 187];
    const within = [900, 3600, 7200, 14400, 28800, 43200, 86400, 172800, 259200];
    return {
      day,
      hours: Array.from({ length: 24 }, (_, h) => hour(h)),
      arrived: within.map((w, i) => ({ within: w, readings: came[i] ?? 0 })),
    };
  }

  /** A month; an estimate was replaced since. */
  private bill(query: URLSearchParams): MeterBill {
    const then = query.has("knownAt");
    const period = (name: string, quantity: number, estimated: number): MeterPeriod => ({
      ...{ period: name, quantity, intervals: 1488, missing: 0, estimated, edited: 0 },
      ...(query.has("window") && {
        demand: { demand: quantity / 100, end: end(77), windows: 1488, incomplete: 0 },
      }),
    });
    const tariff = query.get("tariff") ?? "";
    return {
      ...{ meters: ["1EMH0001"], from: end(0), to: end(2976), unit: "kWh", stray: 0 },
      ...(tariff && { tariff, tariffVersion: 3 }),
      periods: tariff
        ? [period("peak", then ? 210.5 : 209.25, then ? 4 : 0), period("off-peak", 120, 2)]
        : [period("all", then ? 330.5 : 329.25, then ? 6 : 2)],
      registers: [
        {
          ...{ meter: "1EMH0001", channel: 2, unit: "kWh", interpolated: true },
          ...{ first: 1200.5, last: 1529.75, used: 329.25 },
        },
      ],
    };
  }

  private get exception() {
    const found = { day: "2026-03-01", status: "gap", intervals: 3, noticed: end(100) };
    return { number: 7, meter: this.name, channel: 1, ...found };
  }

  private entry(resource: string): MeterEntry {
    return {
      id: decodeURIComponent(resource.split("/")[2] ?? ""),
      commodity: "electricity",
      channels: [
        {
          ...{ number: 1, readingType: "0.0.2.4.1.1.12.0.0.0.0.0.0.0.0.3.72.0", unit: "kWh" },
          ...{ interval: 900, obis: "1-0:1.29.0*255" },
        },
        { number: 2, readingType: "0.0.0.1.1.1.12.0.0.0.0.0.0.0.0.3.72.0", unit: "kWh" },
      ],
    };
  }

  private readings(query: URLSearchParams): MeterReadings {
    const [from, to] = ["from", "to"].map((k) => Date.parse(query.get(k) ?? ""));
    const all = Array.from({ length: 96 }, (_, i) => this.versions(i + 1, query)).flat();
    const within = all.filter(
      (v) => Date.parse(v.end) > (from ?? 0) && Date.parse(v.end) <= (to ?? 0),
    );
    return { meter: "1EMH0001", channel: 1, unit: "kWh", readings: within };
  }

  /** The versions of an interval, or the one that counts. */
  private versions(n: number, query: URLSearchParams): MeterVersion[] {
    const value = Math.round(250 + 200 * Math.sin(n / 8)) / 1000;
    const gap = n === 40 || n === 41;
    const list: MeterVersion[] = [];
    if (!gap)
      list.push({ end: end(n), value, stage: "raw", recorded: end(n + 1), who: "concentrator-1" });
    if (!gap) list.push({ end: end(n), value, stage: "validated", recorded: end(100) });
    if (gap && !query.has("knownAt")) {
      list.push({ end: end(n), value, stage: "estimated", recorded: end(400), rule: "line" });
    }
    for (const e of this.edits.filter((edit) => edit.end === end(n))) {
      const { value: edited, reason } = e;
      list.push({
        end: end(n),
        value: edited,
        stage: "edited",
        recorded: end(500),
        who: "ada",
        reason,
      });
    }
    return query.has("versions") ? list : list.slice(-1);
  }
}
