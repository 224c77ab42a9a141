import { useEffect, useState } from "preact/hooks";
import { wordsOf } from "../use-poll";

/** What is known about a text. */
export type Judgement<Check> =
  | { is: "asking" }
  | { is: "unknown"; why: string }
  | { is: "judged"; check: Check };

/** Waits so long for the next key before it asks. */
const pause = 400;

/** The node's judgement of the text as it is typed; undefined while there is none to judge. */
export function useCheck<Check>(
  ask: (text: string) => Promise<Check>,
  text: string | undefined,
): Judgement<Check> | undefined {
  const [judged, setJudged] = useState<{ text: string; by: unknown; of: Judgement<Check> }>();
  useEffect(() => {
    if (text === undefined) return;
    let stale = false;
    const told = (of: Judgement<Check>) => !stale && setJudged({ text, by: ask, of });
    const timer = setTimeout(() => {
      ask(text).then(
        (check) => told({ is: "judged", check }),
        (err) => told({ is: "unknown", why: wordsOf(err) }),
      );
    }, pause);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [ask, text]);
  if (text === undefined) return undefined;
  return judged?.text === text && judged.by === ask ? judged.of : { is: "asking" };
}
