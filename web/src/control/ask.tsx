import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

interface Props {
  title: string;
  /** What the button that does it says. */
  label: string;
  busy: boolean;
  /** Why it could not be done. */
  problem: string;
  children: ComponentChildren;
  onDo(): void;
  onClose(): void;
}

/** Asks before something is done, and says what it will do. It stays while it is under way or failed. */
export function Ask({ title, label, busy, problem, children, onDo, onClose }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} class="ask" aria-label={title} onClose={onClose}>
      <h2>{title}</h2>
      {children}
      <p role="alert" class="problem">
        {problem}
      </p>
      <form
        method="dialog"
        class="actions"
        onSubmit={(e) => {
          if (e.submitter?.getAttribute("value") !== "do") return;
          e.preventDefault();
          onDo();
        }}
      >
        <button type="submit" value="do" class="primary" disabled={busy}>
          {busy ? `${label}…` : label}
        </button>
        <button type="submit" value="no">
          Cancel
        </button>
      </form>
    </dialog>
  );
}
