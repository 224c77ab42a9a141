import type { ControlPoint, ControlSlot, Value } from "../generated/api";

/** A point for tests that nobody commands. */
export const idlePoint: ControlPoint = {
  point: "site/zone/setpoint",
  description: "",
  device: "site/zone",
  unit: "degC",
  kind: "float",
  writable: true,
  default: null,
  revert: "relinquish",
  array: [],
  array_in_device: false,
  overrides: [],
  window: null,
  commanded: null,
  wish: null,
  reverting: false,
  output: "idle",
  held: null,
  reported: null,
  observed: 21,
  failures: 0,
};

/** A level for tests that somebody holds. */
export const slotOf = (requester: string, level: number, value: Value): ControlSlot => ({
  requester,
  level,
  value,
  command: `${requester} ${level}`,
});
