import type { Api } from "../api";

/** Whether the node waits for its first administrator. */
export interface Setup {
  needed: boolean;
  /** The node's name. */
  node: string;
}

/** One point of a device that was read once, to try it. */
export interface Tried {
  path: string;
  kind: string;
  unit: string;
  value: number | boolean | string | null;
  quality: string;
}

/** A device to add. */
export interface NewDevice {
  path: string;
  driver: string;
  interval: string;
  config: Record<string, unknown>;
}

/** The first steps' part of the API. */
export const askSetup = (api: Api) => api.get<Setup>("setup");
export const admit = (api: Api, administrator: string, password: string) =>
  api.send("POST", "setup", { administrator, password });
export const addDevice = (api: Api, device: NewDevice) => api.send("POST", "devices", device);

/** Opens the device, reads it once and closes it; nothing is kept. */
export async function tryDevice(
  api: Api,
  driver: string,
  config: NewDevice["config"],
): Promise<Tried[]> {
  const answer = await api.send<{ points: Tried[] | null }>(
    "POST",
    `drivers/${encodeURIComponent(driver)}/try`,
    { config },
  );
  return answer.points ?? [];
}
