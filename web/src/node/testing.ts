import type { Node } from "../generated/api";

/** A node that is well, for tests. */
export const aNode = (name: string, more: Partial<Node> = {}): Node => ({
  ...{ name, state: "connected", parent: "", path: [], prefix: "", origins: [], version: "0.9.0" },
  ...{ roles: [], link: "", link_note: "", rtt_ms: 0, offset_ms: 0, waiting: 0, waiting_octets: 0 },
  ...{ disk: 0, disk_size: 0, memory: 0, cpu: 0, devices: 0, devices_failing: 0, points: 0 },
  ...{ agents: 0, agents_failing: 0, alerts: 0, health: "ok", note: "", ...more },
});
