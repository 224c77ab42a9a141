import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { ControlPoint, ControlSlot } from "../generated/api";
import { pointAddress } from "../shell/place";
import { includes } from "../shell/role";
import { Ask } from "./ask";
import { approve, release } from "./calls";
import { levelWords, mayUse, roleFor } from "./levels";
import { useAct } from "./use-act";
import { asSet, untilWords, whoWords } from "./words";

interface Props {
  api: Api;
  waiting: readonly ControlSlot[];
  points: readonly ControlPoint[];
  me: string;
  role: string;
  now: number;
  onDone(): void;
}

type Word = "approve" | "refuse" | "withdraw";

const labels: Record<Word, string> = {
  approve: "Approve",
  refuse: "Refuse",
  withdraw: "Withdraw",
};

/** Commands that need approval; nothing is shown if there is none. */
export function Waiting({ api, waiting, me, role, now, onDone }: Props) {
  const [asked, setAsked] = useState<{ slot: ControlSlot; word: Word }>();
  const act = useAct();
  const perform = async () => {
    if (!asked) return;
    const { slot, word } = asked;
    const id = slot.command ?? "";
    const done = await act.perform(() =>
      word === "withdraw"
        ? release(api, { id })
        : approve(api, slot.requester, id, word === "approve"),
    );
    if (done) setAsked(undefined);
    onDone();
  };
  return (
    <section class="card panel" aria-labelledby="waiting-title">
      <h2 id="waiting-title">Needs approval</h2>
      {waiting.length === 0 && <p class="quiet">Nothing waits for approval.</p>}
      <ul class="control-list" aria-label="Commands that wait">
        {waiting.map((slot) => (
          <li key={`${slot.requester} ${slot.command}`}>
            <Waits
              {...{ slot, me, role, now }}
              onAsk={(word) => {
                act.forget();
                setAsked({ slot, word });
              }}
            />
          </li>
        ))}
      </ul>
      {asked && (
        <Ask
          title={`${labels[asked.word]} ${asSet(asked.slot.value)} for ${plain(asked.slot.path ?? "")}?`}
          label={labels[asked.word]}
          busy={act.busy}
          problem={plain(act.problem)}
          onDo={() => void perform()}
          onClose={() => setAsked(undefined)}
        >
          <p>{meaning(asked.slot, asked.word, me)}</p>
        </Ask>
      )}
    </section>
  );
}

function meaning(slot: ControlSlot, word: Word, me: string): string {
  const who = whoWords(slot.requester, me);
  if (word === "withdraw") return "Your command is given up; nobody need approve it any more.";
  if (word === "refuse")
    return `The command of ${who} is given up. The audit log says that you refused it.`;
  return `The command of ${who} counts from now on, at level ${levelWords(slot.level ?? 0)}. Its lease begins now. The audit log says that you approved it.`;
}

interface WaitsProps {
  slot: ControlSlot;
  me: string;
  role: string;
  now: number;
  onAsk(word: Word): void;
}

function Waits({ slot, me, role, now, onAsk }: WaitsProps) {
  const level = slot.level ?? 0;
  const path = slot.path ?? "";
  const own = slot.requester === me;
  const may = mayUse(role, level);
  const name = `${asSet(slot.value)} for ${plain(path)}`;
  const words: Word[] = own ? ["withdraw"] : ["approve", "refuse"];
  return (
    <>
      <span class="control-what">
        <a href={pointAddress(path)}>{plain(path)}</a> to <strong>{asSet(slot.value)}</strong>,{" "}
        {whoWords(slot.requester, me)} at level {levelWords(level)}; waits{" "}
        {untilWords(slot.until, now)}
        {slot.reason && <span class="slot-reason quiet">{plain(slot.reason)}</span>}
      </span>
      {own && <span class="quiet">Somebody else must agree.</span>}
      {!own && !may && (
        <span class="quiet">
          To approve level {level} needs the role {roleFor(level)}.
        </span>
      )}
      {(own ? includes(role, "operator") : may) && (
        <span class="actions">
          {words.map((word) => (
            <button
              key={word}
              type="button"
              aria-label={`${labels[word]} ${name}`}
              onClick={() => onAsk(word)}
            >
              {labels[word]}
            </button>
          ))}
        </span>
      )}
    </>
  );
}
