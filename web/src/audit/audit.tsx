import { useCallback, useEffect, useState } from "preact/hooks";
import { type Api, address } from "../api";
import { plain, zoneWords } from "../format";
import type { Audit, AuditReport } from "../generated/api";
import { reasonOf } from "../language/said";
import { go } from "../shell/place";
import type { ScreenProps } from "../shell/screens";
import { wordsOf } from "../use-poll";
import { Entries } from "./entries";
import { auditAddress, everything, type Filter, parseFilter, queryOf } from "./filter";
import { FilterForm } from "./form";
import { verdict } from "./words";
import "../style/data-table.css";
import "./audit.css";

const pageSize = 100;

/** Who did what: the entries that a filter selects, and whether nobody changed them. */
export function AuditScreen({ api, place, epoch }: ScreenProps) {
  const filter = parseFilter(place.search);
  const show = (next: Filter) => go(auditAddress(next));
  return (
    <div class="screen audit">
      <h1>Audit</h1>
      <Verify api={api} />
      <section class="card panel" aria-labelledby="entries-title">
        <div class="panel-head">
          <h2 id="entries-title">Who did what</h2>
          <a
            class="button"
            href={address("audit/export", queryOf(filter))}
            download="voltbus-audit.jsonl"
          >
            Export
          </a>
        </div>
        <FilterForm key={auditAddress(filter)} filter={filter} onFilter={show} />
        <Page api={api} filter={filter} epoch={epoch} onFilter={show} />
      </section>
    </div>
  );
}

interface PageProps {
  api: Api;
  filter: Filter;
  epoch: number;
  onFilter(filter: Filter): void;
}

/** A page of entries, and the ways to the older and the newest. */
function Page({ api, filter, epoch, onFilter }: PageProps) {
  const [asked, setAsked] = useState<{ page?: Audit; problem: string }>({ problem: "" });
  const [again, setAgain] = useState(0);
  const key = auditAddress(filter);
  // A node that came back is asked anew
  useEffect(() => {
    let stale = false;
    const wanted = parseFilter(new URL(key, location.href).search);
    const before = wanted.before > 0 ? { before: wanted.before } : {};
    api.get<Audit>("audit", { ...queryOf(wanted), ...before, limit: pageSize }).then(
      (page) => !stale && setAsked({ page, problem: "" }),
      (err) => !stale && setAsked((old) => ({ ...old, problem: wordsOf(err) })),
    );
    return () => {
      stale = true;
    };
  }, [api, key, epoch, again]);
  const { page, problem } = asked;
  const narrow = (part: Partial<Filter>) => onFilter({ ...filter, before: 0, ...part });
  return (
    <>
      <p role="alert" class="problem">
        {plain(problem)}
      </p>
      {page ? (
        <Entries entries={page.entries} onNarrow={narrow} />
      ) : (
        !problem && <p class="asking">Asking for the log…</p>
      )}
      {page?.absent?.map((a) => (
        <p key={a.file} class="quiet">
          The entries from {a.first} to {a.last} are in {plain(a.file)}, which{" "}
          {a.removed ? "was removed, as audit.keep says" : "is not there: put it back to see them"}.
        </p>
      ))}
      {page?.entries.length === 0 && (
        <p class="empty">
          {key === "/audit" ? "Nothing was noted yet." : "No entry fits all of that."}
        </p>
      )}
      <p class="quiet">{zoneWords()}.</p>
      <p class="actions">
        {filter.before > 0 ? (
          <button type="button" onClick={() => onFilter({ ...filter, before: 0 })}>
            Newest
          </button>
        ) : (
          <button type="button" onClick={() => setAgain((n) => n + 1)}>
            Ask again
          </button>
        )}
        {page !== undefined && page.next > 0 && (
          <button type="button" onClick={() => onFilter({ ...filter, before: page.next })}>
            Older
          </button>
        )}
        {key !== "/audit" && (
          <button type="button" onClick={() => onFilter(everything)}>
            Show everything
          </button>
        )}
      </p>
    </>
  );
}

type Verified =
  | { is: "asking" }
  | { is: "unknown"; why: string }
  | { is: "told"; report: AuditReport };

/** Follows the chain of hashes on demand, and says what was found. */
function Verify({ api }: { api: Api }) {
  const [kept, setKept] = useState("");
  const [verified, setVerified] = useState<Verified>();
  const ask = useCallback(async () => {
    setVerified({ is: "asking" });
    try {
      const expect = kept.trim();
      const report = await api.get<AuditReport>("audit/verify", expect ? { expect } : {});
      setVerified({ is: "told", report });
    } catch (err) {
      setVerified({ is: "unknown", why: wordsOf(err) });
    }
  }, [api, kept]);
  return (
    <section class="card panel" aria-labelledby="verify-title">
      <h2 id="verify-title">Make sure that nobody changed it</h2>
      <form
        class="audit-verify"
        onSubmit={(e) => {
          e.preventDefault();
          void ask();
        }}
      >
        <label>
          Hash of the log that was kept earlier (optional)
          <input
            type="text"
            spellcheck={false}
            autocomplete="off"
            maxLength={200}
            placeholder="1042:9f2c…"
            value={kept}
            onInput={(e) => setKept(e.currentTarget.value)}
          />
        </label>
        <button type="submit" class="primary" disabled={verified?.is === "asking"}>
          {verified?.is === "asking" ? "Following the chain…" : "Verify"}
        </button>
      </form>
      <Finding verified={verified} />
    </section>
  );
}

function Finding({ verified }: { verified: Verified | undefined }) {
  const report = verified?.is === "told" ? verified.report : undefined;
  const isGood = report?.whole === true;
  return (
    <>
      <p role="status" aria-label="Finding" class={isGood ? "done" : "problem"}>
        {verified?.is === "unknown" && reasonOf(verified.why)}
        {report && verdict(report)}
      </p>
      {report && report.problems.length > 0 && (
        <ul class="audit-problems" aria-label="Problems of the log">
          {report.problems.map((p, i) => (
            <li key={i} class="problem">
              <strong>Entry {p.seq}</strong> {reasonOf(p.detail)}
              {p.accepted && <span class="quiet"> Accepted {plain(p.accepted)}</span>}
            </li>
          ))}
        </ul>
      )}
      {report?.whole && report.head && (
        <p class="quiet audit-head">
          Keep this hash where the owner of the machine cannot write, and ask for it later:{" "}
          <code>{plain(report.head)}</code>
        </p>
      )}
    </>
  );
}
