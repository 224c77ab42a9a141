import { expect, test } from "vitest";
import type { SinkState } from "../generated/api";
import { accountWords, behindWords, historyShare, levelOf, problemOf, stateName } from "./words";

const well: SinkState = {
  ...{ name: "search", kind: "elasticsearch", address: "https://search:9200", into: "readings" },
  ...{ state: "ok", reason: "", waiting: 0, waiting_samples: 0, acknowledged: 1_200 },
  ...{ balanced: true, sent: 1_000, left_out: 200, refused: 0, kept: 0, accepted: 0 },
  ...{
    discarded: 0,
    withheld: 0,
    withheld_kept: 0,
    missing: 0,
    filled: 0,
    newest: "2026-03-01T12:00:00Z",
  },
};

test("a destination that has everything says so", () => {
  expect(accountWords(well)).toBe("It has every reading: 1,000 of 1,000.");
  expect([levelOf(well), stateName(well), problemOf(well)]).toEqual(["good", "Up to date", ""]);
  expect(behindWords(well, Date.parse("2026-03-01T13:00:00Z"))).toBe("nothing waits");
});

test("what it lacks is said with its reason", () => {
  const s = {
    ...well,
    sent: 700,
    waiting: 3,
    waiting_samples: 250,
    refused: 30,
    accepted: 10,
    kept: 20,
    missing: 20,
  };
  expect(accountWords(s)).toBe(
    "It has 710 of 1,000 readings: 250 wait, 20 refused, 20 dropped by the log.",
  );
  expect(behindWords(s, Date.parse("2026-03-01T12:02:00Z"))).toBe("250 samples, 2 min");
  expect([levelOf(s), stateName(s)]).toEqual(["warn", "Has refused"]);
});

test("what rules withhold is said, as long as it waits for a person", () => {
  const s = { ...well, sent: 997, withheld: 3, withheld_kept: 1 };
  expect([levelOf(s), stateName(s)]).toEqual(["warn", "Has withheld"]);
  expect(problemOf(s)).toBe("Rules withheld 1 reading, which waits for a person.");
  expect(stateName({ ...s, withheld_kept: 0 })).toBe("Up to date");
});

test("a destination that is away says why, in one sentence", () => {
  const s: SinkState = { ...well, state: "paused", reason: "nothing listens there", waiting: 2 };
  expect(problemOf(s)).toBe("Nothing is sent: nothing listens there");
  expect(levelOf(s)).toBe("bad");
});

test("the progress of the history is that of its time", () => {
  const s = {
    ...well,
    history_from: "2026-03-01T00:00:00Z",
    history_to: "2026-03-05T00:00:00Z",
    history_sent_to: "2026-03-02T00:00:00Z",
  };
  expect(historyShare(s)).toBe(0.25);
  expect(historyShare(well)).toBeUndefined();
});

test("an account that is not balanced is not called complete", () => {
  expect(accountWords({ ...well, balanced: false })).toMatch(/not known/);
});
