import { useState } from "preact/hooks";
import { plain } from "../format";

interface Props {
  /** What it is, such as "Token of logger". */
  label: string;
  secret: string;
  onDone(): void;
}

/** A secret that is shown once, with a button that copies it. */
export function SecretOnce({ label, secret, onDone }: Props) {
  const [told, setTold] = useState("");
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(secret);
      setTold("Copied.");
    } catch {
      setTold("This browser does not let the page copy: choose the text and copy it yourself.");
    }
  };
  return (
    <section class="secret" aria-label={plain(label)}>
      <p>
        <strong>{plain(label)}</strong>. Copy it now: it is shown only this once.
      </p>
      <code>{secret}</code>
      <p class="actions">
        <button type="button" class="primary" onClick={() => void copy()}>
          Copy
        </button>
        <button type="button" onClick={onDone}>
          I have it
        </button>
        <span role="status" aria-label="Copied" class="quiet">
          {told}
        </span>
      </p>
    </section>
  );
}
