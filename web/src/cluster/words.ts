import { bytes, count, dateTime, plain } from "../format";
import type { Cluster, Replica } from "../generated/api";
import { coded, word } from "../language/codes";
import { fixed } from "../language/number";

/** How bad the state of a cluster is. */
export const levelOf = (c: Cluster) =>
  c.state === "minority" ? "bad" : c.state === "degraded" || !c.lossless ? "warn" : "good";

/** Whether a replica is reached, in words. */
export function reachedWords(r: Replica): string {
  if (r.state === "joining") return "joining";
  return `${r.reached ? "reached" : "not reached"} since ${dateTime(Date.parse(r.since))}`;
}

/** Which other replicas lack something that a replica recorded. */
export function lagWords(r: Replica): string {
  const behind = (r.copies ?? []).filter((c) => c.samples > 0 || c.behind > 0 || c.missing > 0);
  if (behind.length === 0) return word("none");
  return behind
    .map((c) => {
      const missing = c.missing > 0 ? `, ${count(c.missing)} missing` : "";
      return `${plain(c.replica)}: ${count(c.samples)} samples, ${fixed(c.seconds, 1)} s${missing}`;
    })
    .join("; ");
}

/** The facts of a replica, with their names. */
export function facts(r: Replica): [name: string, value: string][] {
  return [
    ["State", coded(plain(r.state))],
    ["Link", reachedWords(r)],
    ["Clients", count(r.clients)],
    ["Acknowledged", `${count(r.log.acknowledged)} samples`],
    ["Behind", lagWords(r)],
    ["Log leader", r.log.leader === "" ? "unknown" : plain(r.log.leader)],
    ["Log", `${bytes(r.log.bytes)}, block ${count(r.log.last)}`],
    ["Disk free", r.disk_size > 0 ? `${bytes(r.disk)} of ${bytes(r.disk_size)}` : "unknown"],
    ["Store", plain(r.store) || "unknown"],
    ["Version", plain(r.version) || "unknown"],
  ];
}
