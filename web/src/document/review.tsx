import { useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import { plain } from "../format";
import type { Document, DocumentCheck } from "../generated/api";
import { reasonOf } from "../language/said";
import { Difference } from "../settings/difference";
import type { Judgement } from "../settings/use-check";
import { wordsOf } from "../use-poll";
import { type Key, rollBack, type Type, writeDocument } from "./calls";
import { Verdict } from "./verdict";

interface Props {
  api: Api;
  of: Key;
  before: Document;
  /** version says that it is an older text, which nobody has touched. */
  draft: { text: string; type: Type; version?: number };
  judgement: Judgement<DocumentCheck> | undefined;
  onBack(): void;
  /** Reads the document anew, because somebody else changed it. */
  onConflict(): Promise<Document | undefined>;
  onSaved(version: number): Promise<void>;
}

/** The change before it holds, line by line. */
export function Review(props: Props) {
  const { api, of, before, draft, judgement, onBack, onConflict, onSaved } = props;
  const [note, setNote] = useState("");
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const isRight = judgement?.is === "judged" && judgement.check.problems.length === 0;
  const save = async () => {
    setBusy(true);
    try {
      await onSaved((await write(api, of, before, draft, note.trim())).version);
    } catch (err) {
      setProblem(await explain(err, before.version, onConflict));
      setBusy(false);
    }
  };
  return (
    <section class="card panel" aria-labelledby="review-title">
      <div class="panel-head">
        <h2 id="review-title">
          {draft.version ? `Bring version ${draft.version} back` : "What changes"}
        </h2>
        <Verdict judgement={judgement} />
        <div class="actions">
          <button type="button" onClick={onBack}>
            Go on editing
          </button>
          <button
            type="button"
            class="primary"
            disabled={busy || !isRight}
            onClick={() => void save()}
          >
            {busy ? "Saving…" : "Save"}
          </button>
        </div>
      </div>
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      {judgement?.is === "judged" && judgement.check.problems.length > 0 && (
        <ul class="config-problems" aria-label="Problems of the text">
          {judgement.check.problems.map((p, i) => (
            <li key={i}>
              <strong>{p.line > 0 ? `Line ${p.line}` : "Text"}</strong> {reasonOf(p.detail)}
            </li>
          ))}
        </ul>
      )}
      {draft.version === undefined && (
        <label class="document-why">
          Why, for those who read the history
          <input
            type="text"
            maxLength={250}
            value={note}
            onInput={(e) => setNote(e.currentTarget.value)}
          />
        </label>
      )}
      {draft.type !== before.type && before.version > 0 && (
        <p>
          The type changes from {before.type} to {draft.type}.
        </p>
      )}
      <Difference before={before.text ?? ""} after={draft.text} label="Difference" />
    </section>
  );
}

const write = (api: Api, of: Key, before: Document, draft: Props["draft"], note: string) =>
  draft.version
    ? rollBack(api, of, draft.version, before.version)
    : writeDocument(api, of, {
        text: draft.text,
        type: draft.type,
        note,
        expect: before.version,
      });

/** Why it was not saved. A conflict is somebody else's version, or a document that needs the old text. */
async function explain(
  err: unknown,
  version: number,
  reread: Props["onConflict"],
): Promise<string> {
  if (!(err instanceof Problem) || err.status !== 409) return wordsOf(err);
  const theirs = await reread();
  if ((theirs?.version ?? 0) === version) return wordsOf(err);
  return (
    "Somebody else changed the document meanwhile. Below is now the difference between theirs and yours: " +
    "saving replaces theirs, so take over first what you want to keep of it."
  );
}
