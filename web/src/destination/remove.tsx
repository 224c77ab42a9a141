import { useState } from "preact/hooks";
import type { Api } from "../api";
import { Ask } from "../control/ask";
import { plain } from "../format";
import { wordsOf } from "../use-poll";

interface Props {
  api: Api;
  name: string;
  onRemoved(): void;
  onClose(): void;
}

/** Asks before a destination is removed, and whether its position is kept. */
export function Remove({ api, name, onRemoved, onClose }: Props) {
  const [forget, setForget] = useState(false);
  const [problem, setProblem] = useState("");
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    try {
      await api.send("DELETE", `sinks/${encodeURIComponent(name)}${forget ? "?forget=true" : ""}`);
      onRemoved();
    } catch (err) {
      setProblem(plain(wordsOf(err)));
    }
    setBusy(false);
  };
  return (
    <Ask
      title={`Remove ${plain(name)}?`}
      label="Remove"
      busy={busy}
      problem={problem}
      onDo={() => void remove()}
      onClose={onClose}
    >
      <p>
        Nothing is sent there any more, and its password is removed here. What it has stays there.
      </p>
      <label class="destination-choice">
        <input type="radio" name="position" checked={!forget} onChange={() => setForget(false)} />{" "}
        <span>Keep its position: added again under this name, it goes on where it was.</span>
      </label>
      <label class="destination-choice">
        <input type="radio" name="position" checked={forget} onChange={() => setForget(true)} />{" "}
        <span>Forget its position, and the readings that it refused.</span>
      </label>
    </Ask>
  );
}
