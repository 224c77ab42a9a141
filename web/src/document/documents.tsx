import { useCallback, useState } from "preact/hooks";
import { dateTime, plain, plural } from "../format";
import { documentAddress, go } from "../shell/place";
import { includes } from "../shell/role";
import type { ScreenProps } from "../shell/screens";
import { usePoll } from "../use-poll";
import { type Key, listDocuments } from "./calls";
import { NewDocument } from "./new-document";
import { type Group, groupsOf, ownerWords } from "./owner";
import { DocumentPage } from "./page";
import "../settings/settings.css";
import "./document.css";

/** Configuration documents: those that there are, or one of them. */
export function DocumentsScreen(props: ScreenProps) {
  const params = new URLSearchParams(props.place.search);
  const owner = params.get("owner") ?? "";
  const name = params.get("name") ?? "";
  if (owner && name)
    return <DocumentPage key={`${owner} ${name}`} {...props} of={{ owner, name }} />;
  return <List {...props} owner={owner} />;
}

/** All documents by owner, or those of one. */
function List({ api, session, epoch, owner }: ScreenProps & { owner: string }) {
  const ask = useCallback(() => listDocuments(api, owner), [api, owner]);
  const { data: documents, problem } = usePoll(ask, 15_000, epoch);
  const [search, setSearch] = useState("");
  const [adding, setAdding] = useState(false);
  const mayChange = includes(session.role, "engineer");
  const groups = groupsOf(documents ?? [], search);
  return (
    <div class="screen documents">
      <h1>Documents</h1>
      <section class="card panel" aria-labelledby="documents-title">
        <div class="panel-head">
          <h2 id="documents-title">
            {owner ? `Configuration of ${plain(ownerWords(owner))}` : "Configuration documents"}
          </h2>
          <span class="actions">
            {owner && <a href="/documents">All documents</a>}
            {mayChange && !adding && (
              <button type="button" class="primary" onClick={() => setAdding(true)}>
                New document
              </button>
            )}
          </span>
        </div>
        <p role="alert" class="problem">
          {plain(problem)}
        </p>
        {adding && (
          <NewDocument
            owner={owner}
            taken={documents ?? []}
            onCancel={() => setAdding(false)}
            onChosen={(key, type) => go(`${documentAddress(key.owner, key.name)}&type=${type}`)}
          />
        )}
        {documents && documents.length > 0 && (
          <input
            type="search"
            aria-label="Find documents"
            placeholder="Find by owner or name"
            value={search}
            onInput={(e) => setSearch(e.currentTarget.value)}
          />
        )}
        {documents?.length === 0 && <Empty mayChange={mayChange} />}
        {documents && documents.length > 0 && groups.length === 0 && (
          <p class="empty">No document has these words.</p>
        )}
        {groups.map((g) => (
          <Owner key={g.owner} group={g} />
        ))}
      </section>
    </div>
  );
}

const Empty = ({ mayChange }: { mayChange: boolean }) => (
  <p class="quiet">
    There is none yet. Agents and devices have their settings in documents, which keep all their
    versions.{" "}
    {mayChange
      ? "An agent reads the one named config."
      : "Somebody with the role engineer can write one."}
  </p>
);

const mostShown = 500;

function Owner({ group }: { group: Group }) {
  const words = plain(ownerWords(group.owner));
  return (
    <section aria-label={words}>
      <h3 class="document-owner">
        {words} <span class="quiet">{plural(group.documents.length, "document")}</span>
      </h3>
      <ul class="document-list">
        {group.documents.slice(0, mostShown).map((d) => (
          <li key={d.name}>
            <a class="link" href={addressOf(d)}>
              {plain(d.name)}
            </a>
            <span class="quiet">{d.type}</span>
            <span class="quiet number">version {d.version}</span>
            <span class="quiet document-by">
              {plain(d.by)}, {dateTime(Date.parse(d.at))}
            </span>
            {d.note && <span class="quiet document-note">{plain(d.note)}</span>}
          </li>
        ))}
      </ul>
      {group.documents.length > mostShown && (
        <p class="quiet">… and {plural(group.documents.length - mostShown, "more document")}.</p>
      )}
    </section>
  );
}

const addressOf = ({ owner, name }: Key) => documentAddress(owner, name);
