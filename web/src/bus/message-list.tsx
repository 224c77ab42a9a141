import { memo } from "preact/compat";
import { useEffect, useState } from "preact/hooks";
import { bytes, clock, count, plain } from "../format";
import { pretty, type Shown } from "./messages";
import type { Feed } from "./use-feed";

interface Props {
  feed: Feed;
  subject: string;
  onSubject(subject: string): void;
}

/** The messages as they come, the newest above; held when somebody wants to read. */
export function MessageList({ feed, subject, onSubject }: Props) {
  const { messages } = feed;
  const [typed, setTyped] = useState(subject);
  useEffect(() => setTyped(subject), [subject]);
  const hold = () => {
    messages.held = !messages.held;
    feed.redraw();
  };
  return (
    <section class="card panel" aria-labelledby="messages-title">
      <div class="panel-head">
        <h2 id="messages-title">Messages</h2>
        <span class="actions">
          <button type="button" aria-pressed={messages.held} onClick={hold}>
            {messages.held ? "Go on" : "Pause"}
          </button>
          <button
            type="button"
            onClick={() => {
              messages.clear();
              feed.redraw();
            }}
          >
            Clear
          </button>
        </span>
      </div>
      <form
        class="bus-filter"
        onSubmit={(e) => {
          e.preventDefault();
          onSubject(typed.trim());
        }}
      >
        <input
          type="text"
          aria-label="Subject"
          placeholder="All subjects; * is one part, > the rest"
          maxLength={512}
          spellcheck={false}
          value={typed}
          onInput={(e) => setTyped(e.currentTarget.value)}
        />
        <button type="submit">Show</button>
        {subject !== "" && (
          <button type="button" onClick={() => onSubject("")}>
            All
          </button>
        )}
      </form>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard */}
      <section class="bus-box" tabIndex={0} aria-label="Newest messages">
        <ul class="messages">
          {messages.list.map((m) => (
            <MessageItem key={m.id} message={m} />
          ))}
        </ul>
        {messages.list.length === 0 && <p class="empty">No message yet.</p>}
      </section>
      <p class="quiet" role="status" aria-label="Messages that are not shown">
        {messages.missed > 0
          ? `${count(messages.missed)} more came that are not shown.`
          : "A text is shown as it is, never as markup."}
      </p>
    </section>
  );
}

const MessageItem = memo(function MessageItem({ message: m }: { message: Shown }) {
  return (
    <li>
      <details>
        <summary>
          <span class="quiet number">{clock(Date.parse(m.time))}</span>
          <span class="message-subject">{plain(m.subject)}</span>
          <span class="quiet number">{bytes(m.bytes)}</span>
          <span class="message-text">{plain(m.text.slice(0, 200))}</span>
        </summary>
        <pre>
          {m.binary ? "No text: " : ""}
          {plain(pretty(m.text))}
          {m.cut ? " …" : ""}
        </pre>
      </details>
    </li>
  );
});
