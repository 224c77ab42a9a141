import { useState } from "preact/hooks";
import type { Api } from "../api";
import { dateTime, plain } from "../format";
import type { Document } from "../generated/api";
import { Difference } from "../settings/difference";
import { wordsOf } from "../use-poll";
import { type Key, readDocument } from "./calls";
import type { Opened } from "./use-document";

interface Props {
  api: Api;
  of: Key;
  opened: Opened;
  /** Left out for those who may not change it. */
  onBringBack?: (version: number) => Promise<void>;
}

const mostShown = 100;

/** All versions: what each one changed, and the way back to it. */
export function History({ api, of, opened, onBringBack }: Props) {
  const [problem, setProblem] = useState("");
  const [shown, setShown] = useState<{ version: number; before: string; after: string }>();
  const { history } = opened;
  const told = (asked: Promise<void>) =>
    void asked.then(
      () => setProblem(""),
      (err) => setProblem(wordsOf(err)),
    );
  const compare = async (v: Document, i: number) => {
    const older = history[i + 1];
    const texts = await Promise.all([textOf(api, of, older), textOf(api, of, v)]);
    setShown({ version: v.version, before: texts[0], after: texts[1] });
  };
  if (history.length === 0) return null;
  return (
    <section class="card panel" aria-labelledby="history-title">
      <h2 id="history-title">Versions</h2>
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      {shown && (
        <>
          <div class="panel-head">
            <strong>What version {shown.version} changed</strong>
            <button type="button" onClick={() => setShown(undefined)}>
              Close
            </button>
          </div>
          <Difference
            before={shown.before}
            after={shown.after}
            label={`What version ${shown.version} changed`}
          />
        </>
      )}
      <ul class="document-list" aria-label="Versions">
        {history.slice(0, mostShown).map((v, i) => (
          <li key={v.version}>
            <strong>Version {v.version}</strong>
            <span class="quiet document-by">
              {plain(v.by)}, {dateTime(Date.parse(v.at))}
            </span>
            <span class="document-note">{v.deleted ? "deleted" : plain(v.note)}</span>
            <span class="actions">
              {!v.deleted && (
                <button
                  type="button"
                  aria-label={`Changes of version ${v.version}`}
                  onClick={() => told(compare(v, i))}
                >
                  Changes
                </button>
              )}
              {onBringBack && i > 0 && !v.deleted && (
                <button
                  type="button"
                  aria-label={`Compare and bring back version ${v.version}`}
                  onClick={() => told(onBringBack(v.version))}
                >
                  Bring back
                </button>
              )}
            </span>
          </li>
        ))}
      </ul>
      {history.length > mostShown && (
        <p class="quiet">
          Older ones: <code>voltbus config history</code>
        </p>
      )}
    </section>
  );
}

const textOf = async (api: Api, of: Key, v: Document | undefined) =>
  v && !v.deleted ? ((await readDocument(api, of, v.version)).text ?? "") : "";
