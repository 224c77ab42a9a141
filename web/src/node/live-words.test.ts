import { expect, test } from "vitest";
import { wantedWords, withheldWords } from "./live-words";

test.each([
  [[], 0, "nobody listens"],
  [["live.scan.b1.>"], 1, "live.scan.b1.>"],
  [["a", "b", "c"], 3, "a, b, c"],
  [["a", "b", "c", "d"], 1200, "a, b, c and 1,197 more"],
  [["a‮b"], 1, "a�b"],
])("of the subjects %j, %i in all, it says %s", (subjects, wanted, words) => {
  expect(wantedWords({ subjects, wanted })).toBe(words);
});

test.each([
  [undefined, "does not come"],
  [true, "comes in part only"],
])("what a node withholds is told with what would let it go", (part, how) => {
  const told = { subject: "live.scan.b1.>", node: "b1", allow: "subscribe **" };
  expect(withheldWords(part === undefined ? told : { ...told, part })).toBe(
    `live.scan.b1.> ${how}: b1 does not let it go up live. Add "subscribe **" to its uplink.allow.`,
  );
});
