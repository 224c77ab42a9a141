import { describe, expect, test } from "vitest";
import type { Device, Kind, Point } from "../api";
import { chooseView } from "./choose";

const point = (
  path: string,
  kind: Kind = "float",
  unit = "",
  device = path.replace(/\/[^/]*$/, ""),
) =>
  ({
    path,
    kind,
    unit,
    device,
    description: "",
    writable: false,
    interval: 1,
    tags: null,
  }) satisfies Point;

const device = (path: string, driver: string, state = "online") =>
  ({ path, driver, state }) as Device;

const points = [
  point("s/sim/t", "float", "degC"),
  point("s/real/mode", "text"),
  point("s/real/n", "int"),
  point("s/real/t1", "float", "degC"),
  point("s/real/p", "float", "kW"),
  point("s/real/t2", "float", "degC"),
];

describe("the first view", () => {
  test("is a real device with curves of one unit", () => {
    const view = chooseView(points, [device("s/sim", "sim"), device("s/real", "modbus")]);
    expect(view).toMatchObject({ branch: "s/real", points: ["s/real/t1", "s/real/t2"] });
  });

  test("is rather a simulated device that answers than a real one that does not", () => {
    const view = chooseView(points, [
      device("s/real", "modbus", "offline"),
      device("s/sim", "sim"),
    ]);
    expect(view?.branch).toBe("s/sim");
  });

  test("shows what moves rather than counters and setpoints", () => {
    const view = chooseView(
      [
        point("d/energy", "float", "kWh"),
        { ...point("d/setpoint", "float", "degC"), writable: true },
        point("d/pressure", "float", "bar"),
        point("d/return", "float", "degC"),
        point("d/supply", "float", "degC"),
      ],
      [device("d", "modbus")],
    );
    expect(view?.points).toEqual(["d/return", "d/supply"]);
  });

  test("passes over devices without figures", () => {
    const view = chooseView(
      [point("a/m", "text"), point("b/x")],
      [device("a", "modbus"), device("b", "sim")],
    );
    expect(view).toMatchObject({ branch: "b", points: ["b/x"] });
  });

  test("does without devices", () => {
    expect(chooseView([point("agents/score", "float", "", "")], [])).toMatchObject({
      branch: "agents",
      points: ["agents/score"],
    });
  });

  test("is not made up where there is nothing", () => {
    expect(chooseView([], [])).toBeUndefined();
  });
});
