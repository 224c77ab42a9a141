import { useEffect, useState } from "preact/hooks";
import type { Api } from "../api";
import { wordsOf } from "../use-poll";
import { type Check, checkConfig } from "./config";

/** What is known about a text. */
export type Judgement =
  | { is: "asking" }
  | { is: "unknown"; why: string }
  | { is: "judged"; check: Check };

/** Waits so long for the next key before it asks. */
const pause = 400;

/** The node's judgement of the text as it is typed; undefined while there is none to judge. */
export function useCheck(api: Api, text: string | undefined): Judgement | undefined {
  const [judged, setJudged] = useState<{ text: string; of: Judgement }>();
  useEffect(() => {
    if (text === undefined) return;
    let stale = false;
    const timer = setTimeout(() => {
      checkConfig(api, text).then(
        (check) => !stale && setJudged({ text, of: { is: "judged", check } }),
        (err) => !stale && setJudged({ text, of: { is: "unknown", why: wordsOf(err) } }),
      );
    }, pause);
    return () => {
      stale = true;
      clearTimeout(timer);
    };
  }, [api, text]);
  if (text === undefined) return undefined;
  return judged?.text === text ? judged.of : { is: "asking" };
}
