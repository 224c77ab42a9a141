import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import { Ask } from "./ask";
import { holdings as ask, type Holdings, release } from "./calls";
import { afterWords, mineOf, mineWords } from "./mine";
import { useAct } from "./use-act";

interface Props {
  api: Api;
  holdings: Holdings;
  me: string;
  onDone(): void;
}

/** One button that gives back everything of who is logged in. */
export function ReleaseAll({ api, holdings, me, onDone }: Props) {
  const [isAsked, setAsked] = useState(false);
  const [told, setTold] = useState("");
  const act = useAct();
  const mine = mineOf(holdings, me);
  const words = mineWords(mine);
  const perform = async () => {
    const done = await act.perform(async () => {
      await release(api, { all: true });
      setTold(afterWords(mine, (await ask(api)).points));
    });
    if (done) setAsked(false);
    onDone();
  };
  return (
    <div class="release-all">
      <button
        type="button"
        class="danger"
        onClick={() => {
          act.forget();
          setTold("");
          setAsked(true);
        }}
      >
        Release everything of mine now
      </button>
      <p role="status" aria-label="What was released" class="quiet">
        {told}
      </p>
      {isAsked && (
        <Ask
          title="Release everything of yours?"
          label="Release everything"
          busy={act.busy}
          problem={plain(act.problem)}
          onDo={() => void perform()}
          onClose={() => setAsked(false)}
        >
          <p>
            {words === ""
              ? "As far as this page knows you hold nothing; the node looks again."
              : `This ends ${words}. Each point follows the next level, or goes back.`}
          </p>
        </Ask>
      )}
    </div>
  );
}
