import { describe, expect, test } from "vitest";
import { Api, Problem } from "../api";
import { push, type Trial, trialWords } from "./trial";

/** A node that is asked; what it answers to a push and to each question for its configuration. */
class Far extends Api {
  readonly asked: string[] = [];

  constructor(
    private readonly pushed: unknown,
    private readonly texts: (string | undefined)[],
  ) {
    super("plant");
  }

  override get<T>(): Promise<T> {
    const text = this.texts.length > 1 ? this.texts.shift() : this.texts[0];
    if (text === undefined) return Promise.reject(new TypeError("no answer"));
    return Promise.resolve({ text, version: `of ${text}` } as T);
  }

  override send<T>(_method: string, resource: string): Promise<T> {
    this.asked.push(resource);
    const answer = this.pushed;
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer as T);
  }
}

const lost = new Problem(502, "", "the node could not be reached", "unreachable");

const pushing = (far: Far, more: { kept?: boolean } = {}) => {
  const trials: Trial[] = [];
  const done = push({
    ...{ far, node: "plant", text: "new", version: "1", bound: 60 },
    signal: new AbortController().signal,
    told: (t) => trials.push(t),
    isKept: () => more.kept ?? false,
  });
  return { trials, done };
};

describe("a configuration that is pushed", () => {
  test("is kept when the node is reached", async () => {
    const { trials, done } = pushing(new Far({ version: "2", changes: {} }, []));
    expect((await done).version).toBe("2");
    expect(trials.map((t) => t.is)).toEqual(["sent"]);
  });

  test("is refused with the words of the node", async () => {
    const no = new Problem(403, "", "needs call node:config.set", "refused");
    await expect(pushing(new Far(no, [])).done).rejects.toThrow("needs call node:config.set");
  });

  test("is told to be gone when the node went back", async () => {
    const { trials, done } = pushing(new Far(lost, ["old"]));
    await expect(done).rejects.toThrow("plant has the configuration from before");
    expect(trials.map((t) => t.is)).toEqual(["sent", "lost"]);
  });

  test("is followed, too, when it takes the right to confirm it away", async () => {
    const cut = new Problem(403, "", "it goes back", "refused", [], "call node:config.confirm");
    await expect(pushing(new Far(cut, ["old"])).done).rejects.toThrow("went back by itself");
  });

  test("stays when somebody lets it", async () => {
    const { done } = pushing(new Far(lost, ["new"]), { kept: true });
    expect((await done).version).toBe("of new");
  });

  test.each<[Trial["is"], number, string]>([
    ["sent", 30_000, "goes back by itself in 30 s"],
    ["lost", 12_000, "No contact with plant"],
    ["reached", 12_000, "Keep it"],
    ["lost", -1, "should be back at the configuration before"],
  ])("says how it stands: %s, %i ms left", (is, left, words) => {
    expect(trialWords("plant", { is, until: 1000 + left, version: "" }, 1000)).toContain(words);
  });
});
