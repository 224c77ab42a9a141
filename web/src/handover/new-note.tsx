import { useState } from "preact/hooks";
import type { Api } from "../api";
import { useAct } from "../control/use-act";
import { plain } from "../format";

/** A note for the next shift: an annotation of this moment. */
export function NewNote({ api, onDone }: { api: Api; onDone(): void }) {
  const [text, setText] = useState("");
  const act = useAct();
  const save = async () => {
    const from = new Date(api.now()).toISOString();
    if (!(await act.perform(() => api.send("PUT", "annotations", { from, text: text.trim() }))))
      return;
    setText("");
    onDone();
  };
  return (
    <form
      class="handover-note"
      aria-label="New note"
      onSubmit={(e) => {
        e.preventDefault();
        void save();
      }}
    >
      <label>
        Note for the next shift
        <textarea
          rows={2}
          maxLength={2000}
          value={text}
          onInput={(e) => setText(e.currentTarget.value)}
        />
      </label>
      {act.problem && (
        <p role="alert" class="problem">
          {plain(act.problem)}
        </p>
      )}
      <button type="submit" disabled={act.busy || text.trim() === ""}>
        Add the note
      </button>
    </form>
  );
}
