// Answers of the node that were asked for by first.ts, while the browser still brought the code of the page. Each is used
// once, by the first request of the page for it.

/** What was asked for, by method and address. */
export interface FirstAnswers {
  /** When, on the clock of performance.now(). */
  begun: number;
  answers: Map<string, Promise<Response>>;
}

declare global {
  // The only way between two scripts that share no file
  var voltbusFirst: FirstAnswers | undefined;
}

/** Answers are as old as the load of the page; older ones than so many milliseconds are asked for anew. */
const fresh = 10_000;

/** Takes the answer to a request if it was asked for ahead; undefined if it must be asked for now. */
export function takeAnswer(method = "GET", address: string): Promise<Response> | undefined {
  const first = globalThis.voltbusFirst;
  if (!first) return undefined;
  if (performance.now() - first.begun > fresh) {
    dropAnswers();
    return undefined;
  }
  const key = `${method} ${address}`;
  const answer = first.answers.get(key);
  first.answers.delete(key);
  return answer;
}

/** Drops what was asked for ahead, and gives its connections back: somebody else asks now. */
export function dropAnswers(): void {
  for (const answer of globalThis.voltbusFirst?.answers.values() ?? [])
    answer.then((response) => response.body?.cancel()).catch(() => undefined);
  globalThis.voltbusFirst = undefined;
}
