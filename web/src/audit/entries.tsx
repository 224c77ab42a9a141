import { dateTime, plain } from "../format";
import type { AuditEntry } from "../generated/api";
import { actionWords } from "./actions";
import type { Filter } from "./filter";
import { detailOf, endOf, outcomeWords } from "./words";

interface Props {
  entries: readonly AuditEntry[];
  /** Narrows the filter to what was chosen in an entry. */
  onNarrow(part: Partial<Filter>): void;
}

/** A page of entries. What stands in a column can be chosen to see only that. */
export function Entries({ entries, onNarrow }: Props) {
  if (entries.length === 0) return null;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
    <section class="scroll-x" tabIndex={0} aria-label="Entries">
      <table class="data-table audit-table">
        <thead>
          <tr>
            <th scope="col">Time</th>
            <th scope="col">Who</th>
            <th scope="col">Action</th>
            <th scope="col">Subject</th>
            <th scope="col">Outcome</th>
          </tr>
        </thead>
        <tbody>
          {entries.map((e) => (
            <Entry key={e.seq} entry={e} onNarrow={onNarrow} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

const marks = { well: "✓", open: "→", failed: "✗" } as const;

function Entry({ entry: e, onNarrow }: { entry: AuditEntry; onNarrow: Props["onNarrow"] }) {
  const end = endOf(e.outcome);
  return (
    <tr class={end === "failed" ? "is-bad" : ""}>
      <td class="number audit-time">
        <time dateTime={e.time} title={`Entry ${e.seq}`}>
          {dateTime(Date.parse(e.time))}
        </time>
      </td>
      <td>
        <Part of="actor" text={e.actor} onNarrow={onNarrow} />
      </td>
      <td>
        <Part of="action" text={e.action} words={actionWords(e.action)} onNarrow={onNarrow} />
      </td>
      <td>
        <Part of="subject" text={e.subject} onNarrow={onNarrow} />
      </td>
      <td>
        {`${marks[end]} ${outcomeWords(e.outcome)}`}
        <More entry={e} />
      </td>
    </tr>
  );
}

interface PartProps {
  of: "actor" | "action" | "subject";
  text: string;
  /** What is shown in place of the text; the text is then in the hint. */
  words?: string;
  onNarrow: Props["onNarrow"];
}

const narrowing = {
  actor: "Show only what this one did",
  action: "Show only this action",
  subject: "Show only what was done to this",
} as const;

/** A pattern cannot say a star, so a text with one is looked for as a text. */
function Part({ of, text, words, onNarrow }: PartProps) {
  if (text === "") return null;
  const part = text.includes("*") ? { text } : { [of]: text };
  return (
    <button
      type="button"
      class="link"
      title={words === undefined ? narrowing[of] : `${narrowing[of]}: ${plain(text)}`}
      onClick={() => onNarrow(part)}
    >
      {words ?? plain(text)}
    </button>
  );
}

function More({ entry: e }: { entry: AuditEntry }) {
  const detail = detailOf(e.detail);
  return (
    <details class="audit-more">
      <summary>
        {detail ? "Details" : "Proof"}
        <span class="unseen"> of entry {e.seq}</span>
      </summary>
      {detail && <pre>{detail}</pre>}
      <p class="quiet">
        Entry {e.seq}
        {e.segment > 1 && ` in segment ${e.segment}`}, hash <code>{plain(e.hash)}</code>
      </p>
    </details>
  );
}
