import { expect, test } from "vitest";
import type { Replica } from "../generated/api";
import { lagWords, levelOf, reachedWords } from "./words";

const replica: Replica = {
  name: "r1",
  address: "10.0.0.1:6222",
  reached: true,
  since: "2026-01-02T03:04:05Z",
  state: "member",
  version: "1",
  clients: 3,
  disk: 1,
  disk_size: 2,
  store: "files",
  log: { leader: "r1", first: 1, last: 2, bytes: 3, acknowledged: 4 },
  copies: [
    { replica: "r2", behind: 0, blocks: 0, samples: 0, seconds: 0, missing: 0 },
    { replica: "r3", behind: 1, blocks: 2, samples: 1200, seconds: 2.5, missing: 0 },
  ],
};

test("a replica that lacks something is named with what it lacks", () => {
  expect(lagWords(replica)).toMatch(/^r3: 1.200 samples, 2.5 s$/);
  expect(lagWords({ ...replica, copies: [] })).toBe("none");
});

test("one that joins is not called unreached", () => {
  expect(reachedWords({ ...replica, reached: false, state: "joining" })).toBe("joining");
  expect(reachedWords({ ...replica, reached: false })).toMatch(/^not reached since /);
});

test("a minority is worse than a replica that is missing", () => {
  const c = {
    replicated: true,
    self: "r1",
    reached: 1,
    majority: 2,
    sentence: "",
    ledger: "",
    confirmed: 0,
    replicas: [],
  };
  expect(levelOf({ ...c, state: "minority", lossless: false })).toBe("bad");
  expect(levelOf({ ...c, state: "degraded", lossless: true })).toBe("warn");
  expect(levelOf({ ...c, state: "ok", lossless: true })).toBe("good");
});
