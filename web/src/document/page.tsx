import { useCallback, useEffect, useState } from "preact/hooks";
import { type Api, Problem } from "../api";
import { dateTime, plain } from "../format";
import type { Document } from "../generated/api";
import { Editor } from "../settings/editor";
import { useCheck } from "../settings/use-check";
import { useGuard } from "../shell/guard";
import { agentAddress, documentAddress, go } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { wordsOf } from "../use-poll";
import { checkDocument, deleteDocument, type Key, readDocument, type Type, types } from "./calls";
import { History } from "./history";
import { TypeChoice } from "./new-document";
import { ownerWords } from "./owner";
import { Review } from "./review";
import { type Opened, useDocument } from "./use-document";
import { Verdict } from "./verdict";

/** One document: its text, judged as it is typed, what a change does, and all its versions. */
export function DocumentPage(props: ScreenProps & { of: Key }) {
  const { api, session, place, epoch, of } = props;
  const given = new URLSearchParams(place.search).get("type");
  const opened = useDocument(
    api,
    of,
    types.find((t) => t === given),
    epoch,
  );
  const mayChange = includes(session.role, "engineer");
  const { document } = opened;
  return (
    <div class="screen documents">
      <h1>{plain(of.name)}</h1>
      <p class="quiet">
        {of.owner.startsWith("agent/") ? (
          <a href={agentAddress(of.owner.slice("agent/".length))}>{plain(ownerWords(of.owner))}</a>
        ) : (
          plain(ownerWords(of.owner))
        )}
        {document && document.version > 0 && (
          <>
            , version {document.version} by {plain(document.by)},{" "}
            {dateTime(Date.parse(document.at))}
            {document.note && `: ${plain(document.note)}`}
          </>
        )}
        {" · "}
        <a href="/documents">All documents</a>
      </p>
      {opened.problem && (
        <p role="alert" class="problem">
          {plain(opened.problem)}
        </p>
      )}
      {!document && !opened.problem && <p class="asking">Reading the document…</p>}
      {document &&
        (mayChange ? (
          <Workbench api={api} of={of} opened={opened} document={document} />
        ) : (
          <Reading document={document} />
        ))}
      {!mayChange && <History api={api} of={of} opened={opened} />}
    </div>
  );
}

const Reading = ({ document }: { document: Document }) => (
  <section class="card panel" aria-labelledby="text-title">
    <h2 id="text-title">Text</h2>
    {document.version === 0 ? (
      <p class="quiet">The document was deleted. Its versions are below.</p>
    ) : (
      <pre class="document-text">{document.text}</pre>
    )}
  </section>
);

interface WorkbenchProps {
  api: Api;
  of: Key;
  opened: Opened;
  document: Document;
}

/** A text that is not written yet. */
interface Draft {
  text: string;
  type: Type;
  /** The version whose text this is; undefined if it was typed. */
  version?: number;
}

function Workbench({ api, of, opened, document }: WorkbenchProps) {
  const [draft, setDraft] = useState<Draft>();
  const [reviewing, setReviewing] = useState(false);
  const [done, setDone] = useState("");
  const shown = draft ?? { text: document.text ?? "", type: document.type };
  const isNew = document.version === 0;
  const isChanged = isNew
    ? shown.text !== ""
    : shown.text !== document.text || shown.type !== document.type;
  const { owner, name } = of;
  const check = useCallback(
    (text: string) => checkDocument(api, { owner, name }, shown.type, text),
    [api, owner, name, shown.type],
  );
  const judgement = useCheck(check, isChanged ? shown.text : undefined);
  useGuard(isChanged, "The changed document is not saved. Leave it?");
  useFresh(opened, document, !isChanged);
  const problems = judgement?.is === "judged" ? judgement.check.problems : [];

  const change = (next: Draft) => {
    setDraft(next);
    setDone("");
  };
  const bringBack = async (version: number) => {
    const old = await readDocument(api, of, version);
    change({ text: old.text ?? "", type: old.type, version });
    setReviewing(true);
  };
  const finish = async (version: number) => {
    if (isNew) go(documentAddress(of.owner, of.name), "replace");
    await opened.read();
    setDraft(undefined);
    setReviewing(false);
    setDone(`Saved as version ${version}.`);
  };

  return (
    <>
      <p role="status" aria-label="Last change" class="standing">
        {done}
      </p>
      <Meanwhile opened={opened} document={document} isChanged={isChanged} />
      {reviewing && isChanged ? (
        <Review
          api={api}
          of={of}
          before={document}
          draft={shown}
          judgement={judgement}
          onBack={() => setReviewing(false)}
          onConflict={opened.read}
          onSaved={finish}
        />
      ) : (
        <section class="card panel" aria-labelledby="text-title">
          <div class="panel-head">
            <h2 id="text-title">Text</h2>
            <Verdict judgement={judgement} />
            <div class="actions">
              {isChanged && (
                <button type="button" onClick={() => setDraft(undefined)}>
                  Discard changes
                </button>
              )}
              {!isNew && !isChanged && <Delete api={api} of={of} document={document} />}
              <button
                type="button"
                class="primary"
                disabled={!isChanged || judgement?.is !== "judged" || problems.length > 0}
                onClick={() => setReviewing(true)}
              >
                Review changes
              </button>
            </div>
          </div>
          <div class="document-type">
            <TypeChoice type={shown.type} onType={(type) => change({ text: shown.text, type })} />
          </div>
          <Editor
            label="Text"
            text={shown.text}
            problems={problems}
            onText={(text) => change({ text, type: shown.type })}
          />
        </section>
      )}
      <History api={api} of={of} opened={opened} onBringBack={bringBack} />
    </>
  );
}

/** Shows what somebody else wrote, as long as nothing is being typed. */
function useFresh(opened: Opened, document: Document, idle: boolean) {
  const { history, read } = opened;
  const newest = history[0]?.version ?? 0;
  const isBehind = newest > document.version && document.version > 0;
  useEffect(() => {
    if (idle && isBehind) void read();
  }, [idle, isBehind, read]);
}

interface MeanwhileProps {
  opened: Opened;
  document: Document;
  isChanged: boolean;
}

/** Says that somebody else was faster, before saving says so. */
function Meanwhile({ opened, document, isChanged }: MeanwhileProps) {
  const newest = opened.history[0];
  if (!isChanged || !newest || newest.version <= document.version) return null;
  return (
    <p class="notice is-warn" role="status">
      {plain(newest.by)} {newest.deleted ? "deleted it" : `saved version ${newest.version}`}{" "}
      meanwhile.{" "}
      <button type="button" class="link" onClick={() => void opened.read()}>
        Compare with that
      </button>
    </p>
  );
}

function Delete({ api, of, document }: { api: Api; of: Key; document: Document }) {
  const [problem, setProblem] = useState("");
  const remove = async () => {
    if (!confirm(`Delete ${of.name}? Its versions stay, and it can be brought back.`)) return;
    try {
      await deleteDocument(api, of, document.version);
      go("/documents");
    } catch (err) {
      const isStale = err instanceof Problem && err.status === 409;
      setProblem(isStale ? `Not deleted: ${wordsOf(err)}` : wordsOf(err));
    }
  };
  return (
    <>
      <span role="alert" class="problem">
        {plain(problem)}
      </span>
      <button type="button" onClick={() => void remove()}>
        Delete
      </button>
    </>
  );
}
