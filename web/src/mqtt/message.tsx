import { useState } from "preact/hooks";
import { age, dateTime, plain, plural } from "../format";
import type { MQTTUnknown } from "../generated/api";
import { reasonOf } from "../language/said";
import { wordsOf } from "../use-poll";
import { shownPayload } from "./words";

interface Props {
  message: MQTTUnknown;
  /** Whether the person may add templates. */
  mayAdd: boolean;
  now: number;
  onAdd(topic: string, template: string): Promise<void>;
}

/** The last message of a topic, and the template that would take it. */
export function Message({ message: u, mayAdd, now, onAdd }: Props) {
  const [draft, setDraft] = useState<string>();
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const template = draft ?? u.proposal;
  const add = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    setProblem("");
    try {
      await onAdd(u.topic, template);
    } catch (err) {
      setProblem(wordsOf(err));
    }
    setBusy(false);
  };
  const last = Date.parse(u.at);
  return (
    <li>
      <h3>{plain(u.topic)}</h3>
      <p class="quiet">
        {u.device ? `Device ${plain(u.device)}: ` : "A client without a name: "}
        {plural(u.count, "message")}, the last one{" "}
        <time dateTime={u.at} title={dateTime(last)}>
          {agoWords(Math.max(0, now - last))}
        </time>
      </p>
      <pre class="payload">{shownPayload(u.payload)}</pre>
      {u.why && (
        <p class="problem">
          The template “{plain(u.template)}” does not take it: {reasonOf(u.why)}
        </p>
      )}
      {!u.template && !u.proposal && (
        <p class="quiet">No template can be proposed for this payload.</p>
      )}
      {u.proposal && (
        <form class="proposal" onSubmit={(event) => void add(event)}>
          <label>
            Proposed template
            <textarea
              spellcheck={false}
              autocomplete="off"
              rows={template.trimEnd().split("\n").length}
              readOnly={!mayAdd}
              value={template}
              onInput={(event) => setDraft(event.currentTarget.value)}
            />
          </label>
          {problem && (
            <p role="alert" class="problem">
              {plain(problem)}
            </p>
          )}
          {mayAdd && (
            <button
              type="submit"
              class="primary"
              disabled={busy}
              aria-label={`Add template of ${plain(u.topic)}`}
            >
              Add template
            </button>
          )}
        </form>
      )}
    </li>
  );
}

const agoWords = (ms: number) => (age(ms) === "now" ? "now" : `${age(ms)} ago`);
