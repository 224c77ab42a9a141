import { useState } from "preact/hooks";
import type { Api } from "../api";
import { Ask } from "../control/ask";
import { useAct } from "../control/use-act";
import { plain } from "../format";
import type { Child } from "../generated/api";
import { go } from "../shell/place";
import { decide, forget } from "./calls";

/** A way to end it, or to begin again. */
interface End {
  label: string;
  title: string;
  does: string;
  /** What it means, a sentence each. */
  means: readonly string[];
  work(api: Api, name: string): Promise<unknown>;
}

const shutOut = (name: string): End => ({
  label: "Shut it out…",
  title: `Shut ${name} out?`,
  does: "Shut it out",
  means: [
    "Its connection ends at once, and its key is refused from then on. If it is away, it hears that when it returns.",
    "What it sent stays here. What it records from now on stays with it, as long as its log has room.",
    "Its descendants are cut off, too. You can let it in again later.",
  ],
  work: (api, of) => decide(api, of, "revoke"),
});

const letIn = (name: string): End => ({
  label: "Let it in again…",
  title: `Let ${name} in again?`,
  does: "Let it in",
  means: ["It connects by itself, and sends what it recorded meanwhile."],
  work: (api, of) => decide(api, of, "approve"),
});

const renew = (name: string): End => ({
  label: "Renew its bundle…",
  title: `Let ${name} come with its bundle?`,
  does: "Let it in",
  means: [
    "Whoever has the bundle can be this node, for 30 days from now, until it is used for the first time.",
    "If the bundle may be in other hands, forget the node, and prepare it anew.",
  ],
  work: (api, of) => decide(api, of, "approve"),
});

const forgetIt = (name: string): End => ({
  label: "Forget it…",
  title: `Forget ${name}?`,
  does: "Forget it",
  means: [
    "Its connection ends, and its name and key are free. To come back it needs a new code.",
    "What it sent stays here.",
  ],
  work: forget,
});

interface Props {
  api: Api;
  child: Child;
  onChanged(): void;
}

function endsOf(state: Child["state"], name: string): End[] {
  if (state === "revoked") return [letIn(name), forgetIt(name)];
  return [...(state === "expired" ? [renew(name)] : []), shutOut(name), forgetIt(name)];
}

/** Shuts a node out, lets it in again, or forgets it; says before what that means. */
export function Ends({ api, child: c, onChanged }: Props) {
  const [asked, setAsked] = useState<End>();
  const act = useAct();
  const name = plain(c.name);
  const ends = endsOf(c.state, name);
  const perform = async () => {
    if (!asked) return;
    const done = await act.perform(() => asked.work(api, c.name));
    if (done && asked.work === forget) go("/nodes");
    if (done) setAsked(undefined);
    onChanged();
  };
  return (
    <>
      <p class="actions">
        {ends.map((e) => (
          <button
            key={e.label}
            type="button"
            class={e.does === "Let it in" ? "" : "danger"}
            onClick={() => {
              act.forget();
              setAsked(e);
            }}
          >
            {e.label}
          </button>
        ))}
      </p>
      {asked && (
        <Ask
          title={asked.title}
          label={asked.does}
          busy={act.busy}
          problem={plain(act.problem)}
          onDo={() => void perform()}
          onClose={() => setAsked(undefined)}
        >
          {asked.means.map((m) => (
            <p key={m}>{m}</p>
          ))}
        </Ask>
      )}
    </>
  );
}
