import { useState } from "preact/hooks";
import type { Api } from "../api";
import { plain } from "../format";
import type { NotedAnnotation } from "../generated/api";
import { includes } from "../shell/role";
import type { Span } from "../span";
import { minuteIn, readTime } from "../zone";
import { iso } from "./iso";
import type { Kept } from "./use-kept";

interface Props {
  api: Api;
  role: string;
  points: readonly string[];
  window: Span;
  zone: string;
  kept: Kept<NotedAnnotation>;
}

/** What people noted about the stretch on screen, numbered as in the plot, and a form for more. */
export function Annotations({ api, role, points, window, zone, kept }: Props) {
  const [writing, setWriting] = useState(false);
  const [wrong, setWrong] = useState("");
  const may = includes(role, "operator");
  if (points.length === 0 || (!may && kept.list.length === 0)) return null;
  const remove = async (id: string) => {
    setWrong(await kept.change(() => api.send("DELETE", `annotations/${encodeURIComponent(id)}`)));
  };
  return (
    <section class="card explore-card annotations" aria-labelledby="annotations-title">
      <div class="legend-head">
        <h2 id="annotations-title">Annotations</h2>
        {may && !writing && (
          <button type="button" onClick={() => setWriting(true)}>
            Add a note
          </button>
        )}
      </div>
      {kept.list.length > 0 && (
        <ol>
          {kept.list.map((a) => (
            <li key={a.id}>
              <p>{plain(a.text)}</p>
              <p class="quiet">
                {minuteIn(Date.parse(a.from), zone)}
                {a.to !== a.from && ` to ${minuteIn(Date.parse(a.to), zone)}`},{" "}
                {plain(nameOf(a.by))}
                {a.points.length === 0 && ", about all points"}
                {may && (
                  <button
                    type="button"
                    class="remove"
                    aria-label={`Delete the note ${a.text}`}
                    onClick={() => void remove(a.id)}
                  >
                    ×
                  </button>
                )}
              </p>
            </li>
          ))}
        </ol>
      )}
      {writing && (
        <NewNote
          {...{ api, points, window, zone, kept }}
          onDone={() => setWriting(false)}
          onProblem={setWrong}
        />
      )}
      {(wrong || kept.problem) && (
        <p class="problem" role="alert">
          {plain(wrong || kept.problem)}
        </p>
      )}
    </section>
  );
}

/** Who wrote it: the node says "person:ada". */
const nameOf = (by: string) => by.replace(/^person:/, "");

interface NewProps extends Omit<Props, "role"> {
  onDone(): void;
  onProblem(problem: string): void;
}

function NewNote({ api, points, window, zone, kept, onDone, onProblem }: NewProps) {
  const [from, setFrom] = useState(minuteIn(window[0], zone));
  const [to, setTo] = useState(minuteIn(window[1], zone));
  const [text, setText] = useState("");
  const [all, setAll] = useState(false);
  const save = async (e: Event) => {
    e.preventDefault();
    const [a, b] = [readTime(from, zone), readTime(to, zone)];
    if (a === undefined) return onProblem("From: write a time such as 2026-03-09 14:00.");
    if (b === undefined) return onProblem("To: write a time such as 2026-03-10 14:00.");
    const about = all ? [] : points.slice(0, mostNamed);
    const note = { from: iso(a), to: iso(b), text, points: about };
    const said = await kept.change(() => api.send("PUT", "annotations", note));
    onProblem(said);
    if (said === "") onDone();
  };
  return (
    <form class="when-written" onSubmit={(e) => void save(e)}>
      <label class="note-text">
        Note
        <textarea
          rows={2}
          maxLength={2000}
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
        />
      </label>
      <label>
        From
        <input type="text" value={from} onInput={(e) => setFrom(e.currentTarget.value)} />
      </label>
      <label>
        To
        <input type="text" value={to} onInput={(e) => setTo(e.currentTarget.value)} />
      </label>
      <label class="note-all">
        <input type="checkbox" checked={all} onChange={() => setAll(!all)} /> About all points
      </label>
      <p class="when-foot">
        <button type="button" onClick={onDone}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={text.trim() === ""}>
          Save the note
        </button>
      </p>
    </form>
  );
}

/** A note names no more points than this. */
const mostNamed = 100;
