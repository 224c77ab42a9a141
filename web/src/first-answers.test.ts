import { afterEach, expect, test } from "vitest";
import { dropAnswers, takeAnswer } from "./first-answers";

afterEach(() => {
  dropAnswers();
});

function asked(begun = performance.now()): Response {
  const answer = new Response("{}");
  globalThis.voltbusFirst = {
    begun,
    answers: new Map([["GET /api/v1/health", Promise.resolve(answer)]]),
  };
  return answer;
}

test("an answer that was asked for ahead is used once, and for its own request only", async () => {
  const answer = asked();
  expect(takeAnswer("POST", "/api/v1/health")).toBeUndefined();
  expect(takeAnswer("GET", "/api/v1/devices")).toBeUndefined();
  expect(await takeAnswer(undefined, "/api/v1/health")).toBe(answer);
  expect(takeAnswer("GET", "/api/v1/health")).toBeUndefined();
});

test("an answer of long ago is not used, and gives its connection back", async () => {
  const answer = asked(performance.now() - 60_000);
  expect(takeAnswer("GET", "/api/v1/health")).toBeUndefined();
  await expect.poll(() => answer.body?.locked || answer.bodyUsed).toBe(true);
});

test("after a login nothing is used that was asked for before", () => {
  asked();
  dropAnswers();
  expect(takeAnswer("GET", "/api/v1/health")).toBeUndefined();
});
